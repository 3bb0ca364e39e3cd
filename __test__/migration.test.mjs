import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import {
	assistant,
	HEADER,
	HEADER_1,
	idsOf,
	messageLine,
	plain,
	text,
	textsOf,
	time,
	user,
	VERSION_1,
} from "./support/lines.mjs";
import { freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

describe("version 1", () => {
	test("becomes a chain of entries with ids", async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text(...VERSION_1)));
		const entries = session.getEntries();
		assert.equal(entries.length, 4);
		assert.ok(entries.every((entry) => /^[0-9a-f]{8}$/.test(entry.id)));
		assert.deepEqual(
			entries.map((entry) => entry.parentId),
			[null, ...idsOf(entries).slice(0, 3)],
		);
		assert.equal(session.getHeader().version, 3);
		assert.equal(entries[2].firstKeptEntryId, entries[1].id);
		assert.equal("firstKeptEntryIndex" in entries[2], false);
		assert.equal(entries[3].message.role, "custom");
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["old summary", "two", "hook"]);
	});

	test("opening, flushing and closing leaves the file as it is", async () => {
		const file = write("s/one.jsonl", text(...VERSION_1));
		const before = [fs.readFileSync(file, "utf8"), fs.statSync(file).mtimeMs];
		const session = await SessionManager.open(file);
		session.buildSessionContext();
		await session.flush();
		await session.close();
		assert.deepEqual([fs.readFileSync(file, "utf8"), fs.statSync(file).mtimeMs], before);
	});

	test("the next change writes version 3, with the ids that were seen", async () => {
		const file = write("s/one.jsonl", text(...VERSION_1));
		const session = await SessionManager.open(file);
		const seen = idsOf(session.getEntries());
		const added = session.appendMessage(user("new"));
		const lines = readLines(file);
		assert.equal(lines[0].version, 3);
		assert.deepEqual(idsOf(lines.slice(1)), [...seen, added]);
		assert.equal(lines[4].message.role, "custom");
		const again = await SessionManager.open(file);
		assert.deepEqual(idsOf(again.getEntries()), [...seen, added]);
		assert.deepEqual(textsOf(again.buildSessionContext().messages), ["old summary", "two", "hook", "new"]);
	});

	test("two processes give the same ids before either has written", async () => {
		const file = write("s/one.jsonl", text(...VERSION_1));
		const [first, second] = [await SessionManager.open(file), await SessionManager.open(file)];
		assert.deepEqual(idsOf(first.getEntries()), idsOf(second.getEntries()));
	});

	test("equal entries get different ids", async () => {
		const same = plain(1, "message", { message: user("same") });
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER_1, same, same, same)));
		assert.equal(new Set(idsOf(session.getEntries())).size, 3);
	});

	test("numbers and escapes in the lines keep their form", async () => {
		const line =
			'{"type":"custom","timestamp":"2024-12-03T14:00:01.000Z","customType":"x","data":{"n":12345678901234567890,"f":1.0,"s":"\\u00e9"}}';
		const file = write("s/one.jsonl", text(HEADER_1, line));
		const session = await SessionManager.open(file);
		session.appendMessage(user("new"));
		assert.ok(fs.readFileSync(file, "utf8").includes('"data":{"n":12345678901234567890,"f":1.0,"s":"\\u00e9"}'));
	});

	for (const [name, index] of [
		["the header", 0],
		["an entry behind it", 4],
		["nothing", 99],
		["a fraction", 1.5],
	]) {
		test(`a kept index of ${name} keeps nothing`, async () => {
			const lines = VERSION_1.map((line) =>
				line.type === "compaction" ? { ...line, firstKeptEntryIndex: index } : line,
			);
			const session = await SessionManager.open(write("s/one.jsonl", text(...lines)));
			assert.equal(session.getEntries()[2].firstKeptEntryId, undefined);
			assert.deepEqual(textsOf(session.buildSessionContext().messages), ["old summary", "hook"]);
		});
	}

	test("the kept index counts unreadable lines", async () => {
		const lines = [VERSION_1[0], "{cut", VERSION_1[1], VERSION_1[2], { ...VERSION_1[3], firstKeptEntryIndex: 3 }];
		const session = await SessionManager.open(write("s/one.jsonl", text(...lines)));
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["old summary", "two"]);
	});

	test("ensureOnDisk, rename and fork write version 3", async () => {
		for (const change of ["setSessionName", "fork"]) {
			const file = write("s/one.jsonl", text(...VERSION_1));
			const session = await SessionManager.open(file);
			await session[change]("Name");
			assert.equal(readLines(session.getSessionFile())[0].version, 3);
			assert.equal(readLines(session.getSessionFile()).length, 5);
		}
	});
});

describe("version 2", () => {
	const hook = messageLine(2, { role: "hookMessage", customType: "h", content: "hook", display: true, timestamp: 1 });

	test("hook messages become custom messages, in memory and with the next change", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, version: 2 }, messageLine(1, user("one")), hook));
		const session = await SessionManager.open(file);
		assert.equal(session.getEntry("00000002").message.role, "custom");
		assert.equal(readLines(file)[2].message.role, "hookMessage");
		session.appendMessage(assistant("answer"));
		const lines = readLines(file);
		assert.deepEqual([lines[0].version, lines[2].message.role, lines[2].message.content], [3, "custom", "hook"]);
	});

	test("lines that need no change keep their bytes", async () => {
		const line =
			'{"type":"custom","id":"00000002", "parentId":null,"timestamp":"2024-12-03T14:00:01.000Z","customType":"x","data":1.0}';
		const file = write("s/one.jsonl", text({ ...HEADER, version: 2 }, line));
		const session = await SessionManager.open(file);
		session.appendMessage(user("new"));
		assert.ok(fs.readFileSync(file, "utf8").includes(`${line}\n`));
	});
});

describe("a newer version", () => {
	test("is opened, taken further and kept, also by a fork", async () => {
		const header = { ...HEADER, version: 4 };
		const file = write(
			"s/one.jsonl",
			text(header, messageLine(1, user("one")), {
				type: "warp",
				id: "00000002",
				parentId: "00000001",
				timestamp: time(2),
				to: "x",
			}),
		);
		const session = await SessionManager.open(file);
		session.appendMessage(assistant("answer"));
		await session.setSessionName("Name");
		assert.deepEqual([readLines(file)[0].version, readLines(file)[2].type], [4, "warp"]);
		const { newSessionFile } = await session.fork();
		assert.equal(readLines(newSessionFile)[0].version, 4);
		const branched = session.createBranchedSession("00000002");
		assert.equal(readLines(branched)[0].version, 4);
	});
});
