/** What expressions of a case can use, and how its arguments become values. */
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";

export const DIR = process.env.CASE_DIR;
export const SHM = process.env.CASE_SHM ?? `${DIR}/shm`;
export const SMALL = process.env.CASE_SMALL ?? `${DIR}/small`;

/** Replaces the names of places, and the round of a repeated step. */
export function substitute(text, round) {
	const places = text.replaceAll("$DIR", DIR).replaceAll("$SHM", SHM).replaceAll("$SMALL", SMALL);
	return round === undefined ? places : places.replaceAll("$i", String(round));
}

const TIME = 1772615000000;

/** A complete message of a role. */
export function message(role, text, extra = {}) {
	if (role === "user") return { role, content: text, timestamp: TIME, ...extra };
	if (role !== "assistant") {
		const result = { toolCallId: "call_1", toolName: "bash", content: [{ type: "text", text }], isError: false };
		return { role, ...result, timestamp: TIME, ...extra };
	}
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.001 };
	return {
		role,
		content: [{ type: "text", text }],
		api: "anthropic-messages",
		provider: "anthropic",
		model: "claude-sonnet-4-5",
		usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost },
		stopReason: "stop",
		timestamp: TIME,
		...extra,
	};
}

function walk(dir) {
	if (!fs.existsSync(dir)) return [];
	return fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
		const name = path.join(dir, entry.name);
		return entry.isDirectory() ? walk(name) : [name];
	});
}

function lines(file) {
	const isBlank = (line) => line.replace(/[\0\s]/g, "") === "";
	return fs
		.readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => !isBlank(line));
}

function parseLine(line) {
	try {
		return JSON.parse(line.replace(/^\ufeff/, "").replace(/\0+$/, ""));
	} catch {
		return null;
	}
}

function textOf(message) {
	if (message?.summary !== undefined) return message.summary;
	if (typeof message?.content === "string") return message.content;
	return Array.isArray(message?.content) ? message.content.map((block) => block?.text ?? "").join("") : "";
}

function isUtf8(file) {
	try {
		new TextDecoder("utf-8", { fatal: true }).decode(fs.readFileSync(file));
		return true;
	} catch {
		return false;
	}
}

function countNodes(tree) {
	let count = 0;
	const open = [...tree];
	while (open.length > 0) {
		count++;
		open.push(...open.pop().children);
	}
	return count;
}

function peakMegabytes() {
	const peak = /VmHWM:\s+(\d+)/.exec(
		fs.existsSync("/proc/self/status") ? fs.readFileSync("/proc/self/status", "utf8") : "",
	);
	return peak ? Math.round(Number(peak[1]) / 1024) : 0;
}

/** Results of earlier steps and how long they took. */
export const names = {};
export const durations = {};

const vocabulary = {
	file: (name) => fs.readFileSync(name, "utf8"),
	bytes: (name) => fs.readFileSync(name),
	lines,
	parsed: (name) => lines(name).map(parseLine),
	exists: (name) => fs.existsSync(name),
	size: (name) => fs.statSync(name).size,
	mode: (name) => fs.statSync(name).mode,
	mtime: (name) => fs.statSync(name).mtimeMs,
	inode: (name) => fs.statSync(name).ino,
	ls: (dir) =>
		walk(dir)
			.map((name) => path.relative(dir, name))
			.sort(),
	grep: (dir, text) => walk(dir).filter((name) => fs.readFileSync(name).includes(text)),
	sha: (name) => crypto.createHash("sha256").update(fs.readFileSync(name)).digest("hex"),
	utf8ok: isUtf8,
	ids: (entries) => entries.map((entry) => entry?.id),
	nodes: countNodes,
	texts: (messages) => messages.map(textOf),
	ms: (name) => durations[name] ?? 0,
	rss: peakMegabytes,
};

/** The value of an expression. */
export function evaluate(source, round) {
	const scope = { ...vocabulary, ...names };
	return new Function(...Object.keys(scope), `return (${substitute(source, round)});`)(...Object.values(scope));
}

/** The value of an argument. */
export function argument(value, round) {
	if (typeof value === "string") return substitute(value, round);
	if (Array.isArray(value)) return value.map((item) => argument(item, round));
	if (typeof value !== "object" || value === null) return value;
	if ("$expr" in value) return evaluate(value.$expr, round);
	if ("$msg" in value) {
		const [role, text, extra] = value.$msg;
		return message(role, argument(text, round), argument(extra ?? {}, round));
	}
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, argument(item, round)]));
}

function sameJson(left, right) {
	return JSON.stringify(left) === JSON.stringify(right);
}

/** Whether a value is what is expected of it. */
export function meets(value, expected) {
	const wanted = (item) => (typeof item === "string" ? substitute(item) : item);
	const within = (item) =>
		typeof value === "string"
			? value.includes(wanted(item))
			: Array.isArray(value) && value.some((one) => sameJson(one, wanted(item)));
	if ("is" in expected) return sameJson(value, wanted(expected.is)) || (expected.is === null && value == null);
	if ("contains" in expected) return within(expected.contains);
	if ("lacks" in expected) return !within(expected.lacks);
	if ("matches" in expected) return new RegExp(expected.matches, "i").test(String(value));
	if ("atMost" in expected) return value <= expected.atMost;
	return value >= expected.atLeast;
}
