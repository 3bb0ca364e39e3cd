import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../../index.mjs";
import { HEADER, text, user } from "../support/lines.mjs";
import { at, freshPlaces, readLines, write } from "../support/place.mjs";
import { audit, startWriter } from "./children.mjs";

freshPlaces();

/** `SEED=7` for other sequences. */
const SEED = Number(process.env.SEED ?? 0);

/** Lets writers loose on one file and checks what they acknowledged. */
async function together(count, calls, kinds) {
	const file = write("s/one.jsonl", text(HEADER));
	const writers = Array.from({ length: count }, (_, number) =>
		startWriter([file, `w${number}`, SEED + number, calls, kinds]),
	);
	const ends = await Promise.all(writers.map((writer) => writer.ended));
	for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
	const acknowledged = writers.flatMap((writer) => writer.acknowledged);
	assert.ok(acknowledged.filter((line) => line.id).length > count);
	assert.deepEqual(audit(file, acknowledged), { missing: [], doubled: [] });
	assert.ok(readLines(file).every((line) => line !== null));
	assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
	const session = await SessionManager.open(file);
	assert.equal(session.getLoadReport().skippedCount, 0);
	return { session, acknowledged };
}

describe("several processes on one session", () => {
	test("two that append lose nothing and double nothing", async () => {
		await together(2, 200, "append,append,append,pause");
	});

	test("eight that append lose nothing and double nothing", async () => {
		await together(8, 60, "append,append,append,pause,refresh");
	});

	test("five that append, rename, edit and flush lose nothing and double nothing", async () => {
		const { session, acknowledged } = await together(5, 80, "append,append,append,rename,edit,flush,refresh,pause");
		const edits = new Map(acknowledged.filter((line) => line.edited).map((line) => [line.edited, line.call]));
		for (const [id, call] of edits) assert.equal(session.getEntry(id).message.edited, call);
	});
});

/** The same beside programs without locks, which end before ours close. */
async function besideStrangers(count, kinds, strangers) {
	const file = write("s/one.jsonl", text(HEADER));
	const stop = at("stop");
	const writers = Array.from({ length: count }, (_, number) =>
		startWriter([file, `w${number}`, SEED + number, 50, kinds, stop]),
	);
	const others = strangers.map((kind, number) =>
		startWriter([file, "abc"[number], SEED + number, 40, kind], {}, "stranger.mjs"),
	);
	for (const { code, stderr } of await Promise.all(others.map((other) => other.ended))) assert.equal(code, 0, stderr);
	while (!writers.every((writer) => writer.acknowledged.at(-1)?.done || writer.child.exitCode !== null)) {
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
	fs.writeFileSync(stop, "");
	for (const { code, stderr } of await Promise.all(writers.map((writer) => writer.ended)))
		assert.equal(code, 0, stderr);
	const acknowledged = [...writers, ...others].flatMap((writer) => writer.acknowledged);
	assert.ok(acknowledged.filter((line) => line.id).length > count);
	assert.deepEqual(audit(file, acknowledged), { missing: [], doubled: [] });
	const session = await SessionManager.open(file);
	// Who copies a file while a line is written to it copies a part of that line.
	if (!strangers.includes("replace")) assert.equal(session.getLoadReport().skippedCount, 0);
	const own = acknowledged.filter((line) => line.text);
	for (const { id, text } of own) assert.equal(session.getEntry(id).message.content[0].text, text);
}

describe("several processes on one session beside programs that take no lock", () => {
	const kinds = "append,append,append,rename,edit,flush,refresh,pause,pause";

	test("and append through a descriptor they keep: every line of all is there once", async () => {
		await besideStrangers(2, kinds, ["append"]);
		fs.rmSync(at("s"), { recursive: true });
		fs.rmSync(at("stop"));
		await besideStrangers(5, kinds, ["append", "append", "append"]);
	});

	test("and put a copy in the file's place: every line of ours is there once", async () => {
		await besideStrangers(2, kinds, ["replace"]);
		fs.rmSync(at("s"), { recursive: true });
		fs.rmSync(at("stop"));
		await besideStrangers(6, kinds, ["replace", "replace"]);
	});
});

test("a lock that a stopped process holds is not waited for without end, and nothing is lost by it", async () => {
	const file = write("s/one.jsonl", text(HEADER));
	const session = await SessionManager.open(file);
	const writer = startWriter([file, "w", SEED, 1_000_000]);
	while (writer.acknowledged.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
	const own = [];
	let failure;
	// It holds the lock for a part of its time only, so it may have to be stopped more than once.
	while (failure === undefined) {
		writer.child.kill("SIGSTOP");
		try {
			own.push({ id: session.appendMessage(user("ours")) });
			writer.child.kill("SIGCONT");
			await new Promise((resolve) => setTimeout(resolve, 1));
		} catch (error) {
			failure = error;
		}
	}
	assert.deepEqual([failure.code, failure.path], ["ERR_SESSION_LOCKED", file]);
	assert.throws(() => session.appendMessage(user("ours too")), { code: "ERR_SESSION_LOCKED" });
	await assert.rejects(session.flush(), { code: "ERR_SESSION_LOCKED" });
	own.push(...session.getBranch().slice(-2));
	writer.child.kill("SIGCONT");
	await session.flush();
	writer.child.kill("SIGKILL");
	await writer.ended;
	assert.deepEqual(audit(file, [...own, ...writer.acknowledged]), { missing: [], doubled: [] });
	assert.equal(session.getLeafEntry().message.content, "ours too");
	await session.close();
});
