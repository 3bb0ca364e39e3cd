import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { SessionManager } from "../../index.mjs";
import { conversation, HEADER, text, user } from "../support/lines.mjs";
import { at, freshPlaces, place, readLines, write } from "../support/place.mjs";

freshPlaces();

const INDEX = pathToFileURL(path.join(import.meta.dirname, "../../index.mjs")).href;

/** Runs a program in a process of its own, on the same runtime. */
function runProgram(source) {
	const file = write("program.mjs", `import { SessionManager } from ${JSON.stringify(INDEX)};\n${source}`);
	return execFileSync(process.execPath, [file], { encoding: "utf8", env: { ...process.env } });
}

test("what was appended is there after process.exit right behind it", () => {
	const file = write("s/one.jsonl", text(HEADER));
	runProgram(`
		const session = await SessionManager.open(${JSON.stringify(file)});
		for (let at = 0; at < 100; at++) session.appendMessage({ role: "user", content: String(at), timestamp: 1 });
		process.exit(0);
	`);
	assert.equal(readLines(file).length, 101);
});

test("a worker has its own environment and can end at any moment", async () => {
	const file = write("s/one.jsonl", text(...conversation()));
	const program = write(
		"worker.mjs",
		`
		import { parentPort } from "node:worker_threads";
		import { getAgentDir, SessionManager } from ${JSON.stringify(INDEX)};
		process.env.PI_CODING_AGENT_DIR = "/of/the/worker";
		const session = await SessionManager.open(${JSON.stringify(file)});
		session.appendMessage({ role: "user", content: "from the worker", timestamp: 1 });
		parentPort.postMessage(getAgentDir());
		session.flush();
		session.setSessionName("Never seen");
	`,
	);
	const worker = new Worker(program);
	const dir = await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
	await worker.terminate();
	assert.equal(dir, "/of/the/worker");
	assert.equal(process.env.PI_CODING_AGENT_DIR, place.agent);
	const session = await SessionManager.open(file);
	assert.equal(session.getEntries().at(-1).message.content, "from the worker");
});

test("thousands of managers that nobody closes do not use up the descriptors", () => {
	const file = write("s/one.jsonl", text(...conversation()));
	const output = runProgram(`
		import * as fs from "node:fs";
		const kept = [];
		for (let at = 0; at < 2000; at++) {
			const session = await SessionManager.open(${JSON.stringify(file)});
			if (at % 500 === 0) session.appendMessage({ role: "user", content: String(at), timestamp: 1 });
			if (at < 300) kept.push(session);
		}
		for (const session of kept) if (session.getEntries()[0].message.content !== "one") throw new Error("another entry");
		kept[0].appendMessage({ role: "user", content: "last", timestamp: 1 });
		console.log(fs.existsSync("/proc/self/fd") ? fs.readdirSync("/proc/self/fd").length : 0);
		process.exit(0);
	`);
	assert.ok(Number(output) < 200, `${output} descriptors are open`);
	assert.equal(readLines(file).length, 10);
});

test("a getter of a message may call the session that is being written", async () => {
	const session = SessionManager.create("/srv/garden", at("s"));
	const id = session.appendMessage(user("one"));
	const message = user("outer");
	Object.defineProperty(message, "sneaky", {
		enumerable: true,
		get: () => session.getEntry(id).message.content + session.getEntries().length,
	});
	const outer = session.appendMessage(message);
	assert.equal(session.getLeafId(), outer);
	assert.equal(fs.existsSync(session.getSessionFile()), false);
	await session.ensureOnDisk();
	assert.equal(readLines(session.getSessionFile())[2].message.sneaky, "one2");
});

test("appending from a getter while appending keeps both entries in the chain", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(HEADER)));
	const message = user("outer");
	let inner;
	Object.defineProperty(message, "sneaky", {
		enumerable: true,
		get: () => {
			inner ??= session.appendMessage(user("inner"));
			return inner;
		},
	});
	const outer = session.appendMessage(message);
	assert.equal(session.getEntry(outer).parentId, inner);
	assert.deepEqual(
		readLines(session.getSessionFile())
			.slice(1)
			.map((line) => line.id),
		[inner, outer],
	);
});

test("a depth of asynchronous operations without waiting keeps their order", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(...conversation())));
	const operations = [
		session.setSessionName("a"),
		session.fork(),
		session.setSessionName("b"),
		session.newSession(),
		session.flush(),
		session.close(),
	];
	await Promise.all(operations);
	assert.equal(session.getEntries().length, 0);
	const sessions = await SessionManager.list("/srv/garden", at("s"));
	assert.deepEqual(sessions.map((info) => info.title).sort(), ["a", "b"]);
});
