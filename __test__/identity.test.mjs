import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, HEADER, messageLine, text, toolResult, user } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

async function open() {
	return SessionManager.open(write("s/one.jsonl", text(...conversation())));
}

describe("entries", () => {
	test("are the same objects however they are asked for", async () => {
		const session = await open();
		const entry = session.getEntry("00000002");
		assert.equal(session.getEntry("00000002"), entry);
		assert.equal(session.getEntries()[1], entry);
		assert.equal(session.getBranch()[1], entry);
		assert.equal(session.getChildren("00000001")[0], entry);
		assert.equal(session.getTree()[0].children[0].entry, entry);
		assert.equal(session.buildSessionContext().messages[1], entry.message);
		session.branch("00000002");
		assert.equal(session.getLeafEntry(), entry);
	});

	test("keep the message that was handed in", async () => {
		const session = await open();
		const message = toolResult("result");
		const id = session.appendMessage(message);
		assert.equal(session.getEntry(id).message, message);
		assert.equal(session.getEntries().at(-1).message, message);
	});

	test("stay the same through rename, fork and move", async () => {
		const session = await open();
		const [first] = session.getEntries();
		await session.setSessionName("Name");
		assert.equal(session.getEntries()[0], first);
		await session.fork();
		assert.equal(session.getEntries()[0], first);
		await session.moveTo("/srv/other");
		assert.equal(session.getEntries()[0], first);
		assert.equal(first.message.content, "one");
	});
});

describe("changes in memory", () => {
	for (const [name, write] of [
		["rewriteEntries", (session) => session.rewriteEntries()],
		["setSessionName", (session) => session.setSessionName("Name")],
		["fork", (session) => session.fork()],
		["moveTo", (session) => session.moveTo("/srv/other")],
		["createBranchedSession", async (session) => session.createBranchedSession("00000004")],
	]) {
		test(`reach the disk with ${name}`, async () => {
			const session = await open();
			session.getBranch()[1].message.content = [{ type: "text", text: "[pruned]" }];
			session.getEntry("00000003").extra = 1;
			await write(session);
			const lines = readLines(session.getSessionFile());
			assert.equal(lines[2].message.content[0].text, "[pruned]");
			assert.equal(lines[3].extra, 1);
			assert.equal(lines[3].message.content, "three");
		});
	}

	test("of an entry whose message nobody read reach the disk", async () => {
		const session = await open();
		session.getEntries()[2].note = "mine";
		await session.rewriteEntries();
		assert.deepEqual(readLines(session.getSessionFile())[3], { ...messageLine(3, user("three")), note: "mine" });
	});

	test("of an appended message reach the disk", async () => {
		const session = await open();
		const message = toolResult("long output");
		session.appendMessage(message);
		message.content[0].text = "[pruned]";
		assert.equal(readLines(session.getSessionFile()).at(-1).message.content[0].text, "long output");
		await session.rewriteEntries();
		assert.equal(readLines(session.getSessionFile()).at(-1).message.content[0].text, "[pruned]");
	});

	test("of the header reach the disk with the next rewrite", async () => {
		const session = await open();
		session.getHeader().custom = { a: 1 };
		await session.setSessionName("Name");
		assert.deepEqual(readLines(session.getSessionFile())[0], { ...HEADER, custom: { a: 1 }, title: "Name" });
	});

	test("that JSON cannot hold make the rewrite fail and leave the file", async () => {
		const session = await open();
		const before = fs.readFileSync(session.getSessionFile(), "utf8");
		session.getEntries()[0].message.bad = 1n;
		await assert.rejects(session.rewriteEntries(), { name: "TypeError" });
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8"), before);
		delete session.getEntries()[0].message.bad;
		await session.rewriteEntries();
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8"), before);
	});
});

describe("reading alone", () => {
	const ODD = [
		'{"type":"message","id":"00000001","parentId":null,"timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"\\u00e9\\/","n":1.0,"big":12345678901234567890,"e":1E3,"z":-0}}',
		'{"type":"custom","id":"00000002","parentId":"00000001","timestamp":"2024-12-03T14:00:01Z","customType":"x","customType":"y","data":{"2":1,"1":2,"__proto__":{"x":1}}}',
		' { "type" : "message" , "id":"00000003","parentId":"00000002","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"assistant","content":[]}} ',
		'{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"half \\ud83d"}}\r',
	];

	test("never changes a byte, whatever is rewritten around it", async () => {
		const file = write("s/one.jsonl", `${JSON.stringify(HEADER)}\n${ODD.join("\n")}\n`);
		const session = await SessionManager.open(file);
		session.buildSessionContext();
		JSON.stringify(session.getEntries());
		await session.setSessionName("Name");
		await session.rewriteEntries();
		const [, ...lines] = fs.readFileSync(file, "utf8").split("\n");
		assert.deepEqual(lines, [...ODD, ""]);
		const { newSessionFile } = await session.fork();
		assert.deepEqual(fs.readFileSync(newSessionFile, "utf8").split("\n").slice(1), [...ODD, ""]);
	});

	test("writes nothing when nothing changed", async () => {
		const session = await open();
		const before = fs.statSync(session.getSessionFile(), { bigint: true });
		session.getTree();
		JSON.stringify(session.getEntries());
		await session.rewriteEntries();
		await session.flush();
		await session.close();
		const after = fs.statSync(session.getSessionFile(), { bigint: true });
		assert.deepEqual([after.ino, after.mtimeNs], [before.ino, before.mtimeNs]);
	});

	test("an entry that is too deep to be written again keeps its bytes in a rewrite", async () => {
		const deep = `{"type":"custom","id":"00000005","parentId":"00000004","timestamp":"2024-12-03T14:00:05.000Z","customType":"deep","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
		const file = write("s/one.jsonl", text(...conversation(), deep));
		const session = await SessionManager.open(file);
		assert.ok(Array.isArray(session.getEntry("00000005").data));
		await session.setSessionName("Name");
		assert.ok(fs.readFileSync(file, "utf8").includes(deep));
		session.getEntry("00000005").changed = true;
		const before = fs.readFileSync(file, "utf8");
		await assert.rejects(session.rewriteEntries(), { name: "RangeError" });
		assert.equal(fs.readFileSync(file, "utf8"), before);
	});

	test("messages appended before the file exists and after it share one form", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("one"));
		session.appendMessage(assistant("two"));
		const before = fs.readFileSync(session.getSessionFile(), "utf8");
		await session.rewriteEntries();
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8"), before);
	});
});
