/**
 * Deterministic sessions of a chosen size: long-tailed tool outputs, thinking, usage, branches, labels,
 * and compactions every 40 turns or none.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { random } from "../__test__/parity/sequences.mjs";

const WORDS =
	"the a of session file line entry parent leaf branch read write error test value path index tree context message tool output result call return function const let await async import export class".split(
		" ",
	);

class Writer {
	#fd;
	#pending = "";
	bytes = 0;

	constructor(file) {
		fs.mkdirSync(path.dirname(file), { recursive: true });
		this.#fd = fs.openSync(file, "w");
	}

	line(object) {
		const text = `${JSON.stringify(object)}\n`;
		this.#pending += text;
		this.bytes += text.length;
		if (this.#pending.length > 1 << 22) this.#flush();
	}

	#flush() {
		fs.writeSync(this.#fd, this.#pending);
		this.#pending = "";
	}

	close() {
		this.#flush();
		fs.closeSync(this.#fd);
	}
}

/** Prose of about `length` letters with line breaks; ASCII but for a rare word. */
function prose(next, length) {
	const parts = [];
	for (let size = 0; size < length; ) {
		const word = next() < 0.002 ? "naïve" : WORDS[Math.floor(next() * WORDS.length)];
		parts.push(word, next() < 0.08 ? "\n" : " ");
		size += word.length + 1;
	}
	return parts.join("");
}

/** Lengths as in life: most are short, a few are huge. */
function tail(next, median, limit) {
	return Math.min(
		limit,
		Math.floor(median * Math.exp(1.4 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()))),
	);
}

const START = Date.UTC(2026, 2, 4, 9);

/**
 * Writes a session of about `megabytes` to `file`.
 * @param {{ megabytes: number, compactions?: boolean, seed?: number, cwd?: string, entries?: number }} options
 */
export function writeSession(
	file,
	{ megabytes, compactions = true, seed = 1, cwd = "/srv/garden", entries = Infinity },
) {
	const next = random(seed);
	const writer = new Writer(file);
	const id = (0x15e0000000000000n + BigInt(seed)).toString(16);
	writer.line({ type: "session", version: 3, id, timestamp: new Date(START).toISOString(), cwd });
	let number = 0;
	let parent = null;
	let turn = 0;
	const recent = [];
	const add = (type, fields) => {
		number++;
		const entryId = Math.imul(number, 2654435761).toString(16).replace("-", "").padStart(8, "0").slice(-8);
		const unique = recent.includes(entryId) ? number.toString(16).padStart(8, "0") : entryId;
		writer.line({
			type,
			id: unique,
			parentId: parent,
			timestamp: new Date(START + number * 1500).toISOString(),
			...fields,
		});
		parent = unique;
		recent.push(unique);
		if (recent.length > 200) recent.shift();
		return unique;
	};
	const message = (fields) => add("message", { message: { ...fields, timestamp: START + number * 1500 } });
	const usage = () => {
		const [input, output] = [Math.floor(next() * 40_000), Math.floor(next() * 900)];
		return {
			input,
			output,
			cacheRead: Math.floor(input * 0.8),
			cacheWrite: 120,
			totalTokens: input + output,
			cost: { input: 0.01, output: 0.002, cacheRead: 0.001, cacheWrite: 0, total: 0.013 },
		};
	};
	add("model_change", { model: "anthropic/claude-sonnet-4-5" });
	add("thinking_level_change", { thinkingLevel: "medium" });
	const limit = megabytes * 1e6;
	while (writer.bytes < limit && number < entries) {
		turn++;
		message({ role: "user", content: prose(next, tail(next, 120, 5000)) });
		for (let step = 1 + Math.floor(next() * 5); step > 0; step--) {
			const call = `call_${number}`;
			message({
				role: "assistant",
				content: [
					{
						type: "thinking",
						thinking: prose(next, tail(next, 250, 6000)),
						thinkingSignature: prose(next, 200).replace(/\s/g, "x"),
					},
					{ type: "text", text: prose(next, tail(next, 180, 6000)) },
					{ type: "toolCall", id: call, name: "bash", arguments: { command: prose(next, 60) } },
				],
				api: "anthropic-messages",
				provider: "anthropic",
				model: "claude-sonnet-4-5",
				usage: usage(),
				stopReason: "toolUse",
			});
			message({
				role: "toolResult",
				toolCallId: call,
				toolName: "bash",
				content: [{ type: "text", text: prose(next, tail(next, 900, 120_000)) }],
				isError: false,
			});
		}
		if (turn % 25 === 0) add("label", { targetId: recent[recent.length - 3], label: `turn ${turn}` });
		if (turn % 60 === 0) parent = recent[Math.floor(next() * recent.length)];
		if (compactions && turn % 40 === 0) {
			add("compaction", {
				summary: prose(next, 3000),
				shortSummary: `after turn ${turn}`,
				firstKeptEntryId: recent[Math.max(0, recent.length - 20)],
				tokensBefore: 150_000,
			});
		}
	}
	writer.close();
	return { entries: number, bytes: writer.bytes };
}

/** A chain of many small entries. */
export function writeChain(file, entries) {
	const writer = new Writer(file);
	writer.line({
		type: "session",
		version: 3,
		id: "15e0000000000000",
		timestamp: new Date(START).toISOString(),
		cwd: "/srv/garden",
	});
	const id = (number) => number.toString(16).padStart(8, "0");
	for (let at = 1; at <= entries; at++) {
		const role = at % 2 ? "user" : "assistant";
		const rest =
			role === "user" ? {} : { provider: "p", model: "m", usage: { input: 1, output: 1, cost: { total: 0 } } };
		writer.line({
			type: "message",
			id: id(at),
			parentId: at > 1 ? id(at - 1) : null,
			timestamp: new Date(START + at * 1000).toISOString(),
			message: { role, content: `message ${at}`, ...rest },
		});
	}
	writer.close();
}
