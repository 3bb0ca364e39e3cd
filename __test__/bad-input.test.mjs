import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import * as api from "../index.mjs";
import { assistant, conversation, HEADER, idsOf, messageLine, text, textsOf, user } from "./support/lines.mjs";
import { freshPlaces, place, readLines, write } from "./support/place.mjs";

const { SessionManager } = api;
freshPlaces();

describe("arguments of the wrong type", () => {
	const WRONG = [7, {}, [], true, Symbol("x")];
	const session = () => SessionManager.inMemory("/srv");
	/** What is called, the argument that is wrong, and the call. */
	const CALLS = [
		["cwd", (wrong) => SessionManager.create(wrong)],
		["sessionDir", (wrong) => SessionManager.create("/srv", wrong)],
		["path", (wrong) => SessionManager.open(wrong)],
		["cwd", (wrong) => SessionManager.continueRecent(wrong)],
		["cwd", (wrong) => SessionManager.inMemory(wrong)],
		["sourcePath", (wrong) => SessionManager.forkFrom(wrong, "/srv")],
		["cwd", (wrong) => SessionManager.list(wrong)],
		["cwd", (wrong) => SessionManager.getDefaultSessionDir(wrong)],
		["id", (wrong) => session().getEntry(wrong)],
		["id", (wrong) => session().getLabel(wrong)],
		["fromId", (wrong) => session().getBranch(wrong)],
		["parentId", (wrong) => session().getChildren(wrong)],
		["branchFromId", (wrong) => session().branch(wrong)],
		["branchFromId", (wrong) => session().branchWithSummary(wrong, "s")],
		["summary", (wrong) => session().branchWithSummary(null, wrong)],
		["leafId", (wrong) => session().createBranchedSession(wrong)],
		["targetId", (wrong) => session().appendLabelChange(wrong, "x")],
		["customType", (wrong) => session().appendCustomEntry(wrong)],
		["model", (wrong) => session().appendModelChange(wrong)],
		["mode", (wrong) => session().appendModeChange(wrong)],
		["summary", (wrong) => session().appendCompaction(wrong, undefined, "x", 1)],
		["firstKeptEntryId", (wrong) => session().appendCompaction("s", undefined, wrong, 1)],
		["name", (wrong) => session().setSessionName(wrong)],
		["newCwd", (wrong) => session().moveTo(wrong)],
		["sessionFile", (wrong) => session().setSessionFile(wrong)],
		["content", (wrong) => session().saveArtifact(wrong, "bash")],
		["sessionArg", (wrong) => api.resolveResumableSession(wrong, "/srv")],
		["sessionDir", (wrong) => api.findMostRecentSession(wrong)],
		["content", (wrong) => api.parseSessionEntries(wrong)],
		["filePath", (wrong) => api.loadEntriesFromFile(wrong)],
	];
	for (const [argument, call] of CALLS) {
		test(`${String(call).replace(/\(wrong\) => /, "")} names "${argument}"`, async () => {
			for (const wrong of WRONG) {
				await assert.rejects(
					async () => call(wrong),
					(error) => {
						assert.ok(error instanceof TypeError, `${error.name}: ${error.message}`);
						assert.equal(error.code, "ERR_INVALID_ARGUMENT");
						assert.ok(error.message.includes(`"${argument}"`), error.message);
						return true;
					},
				);
			}
		});
	}

	test("objects, lists, numbers, storages and blobs are checked too", async () => {
		const one = session();
		const expected = { name: "TypeError", code: "ERR_INVALID_ARGUMENT" };
		for (const wrong of [undefined, null, "x", 7, []]) assert.throws(() => one.appendMessage(wrong), expected);
		for (const wrong of [undefined, null, "x"]) assert.throws(() => one.appendSessionInit(wrong), expected);
		for (const wrong of [undefined, "x", [1], {}]) assert.throws(() => one.appendTtsrInjection(wrong), expected);
		for (const wrong of [undefined, "x", [null]]) assert.throws(() => one.appendMCPToolSelection(wrong), expected);
		for (const wrong of ["1", null, undefined])
			assert.throws(() => one.appendCompaction("s", "s", "x", wrong), expected);
		for (const wrong of [undefined, "yes", 1])
			assert.throws(() => one.appendCustomMessageEntry("e", "c", wrong), expected);
		for (const wrong of [undefined, 7, {}])
			assert.throws(() => one.appendCustomMessageEntry("e", wrong, true), expected);
		for (const wrong of [7, {}, "x"]) assert.throws(() => SessionManager.create("/srv", undefined, wrong), expected);
		for (const wrong of [undefined, "text", {}]) await assert.rejects(one.putBlob(wrong), expected);
		for (const wrong of [undefined, {}, "x"]) assert.throws(() => one.restoreState(wrong), expected);
		for (const wrong of [undefined, {}, "x"]) assert.throws(() => api.buildSessionContext(wrong), expected);
		for (const wrong of [5, {}, [1], new Set(["x"]), Buffer.from("x")])
			assert.throws(() => api.buildSessionContext([], undefined, wrong), expected);
		assert.throws(() => new SessionManager(), expected);
		assert.equal(one.getEntries().length, 0);
	});
});

describe("a file that is no session", () => {
	for (const [name, content] of [
		["a log", "2024-12-03 started\nand stopped\n"],
		["JSON of another kind", '{"hello":"world"}\n'],
		["entries without a header", text(...conversation().slice(1))],
		["a header without an id", text({ ...HEADER, id: undefined })],
		["a cut header", JSON.stringify(HEADER).slice(0, 40)],
		["NUL bytes", "\0".repeat(100)],
		["binary data", Buffer.from([0xff, 0xfe, 0x00, 0x01, 0x0a, 0x80])],
		["an array", "[1,2,3]\n"],
	]) {
		test(`${name} is refused by open and setSessionFile and left as it is`, async () => {
			const file = write("s/one.jsonl", content);
			const before = fs.readFileSync(file);
			const expected = (error) => {
				assert.equal(error.code, "ERR_SESSION_CORRUPT");
				assert.equal(error.path, file);
				assert.ok(error.line >= 1);
				assert.match(error.message, /line \d+.*repair/s);
				return true;
			};
			await assert.rejects(SessionManager.open(file), expected);
			const session = SessionManager.inMemory("/srv");
			const id = session.appendMessage(user("still here"));
			await assert.rejects(session.setSessionFile(file), expected);
			assert.equal(session.getLeafId(), id);
			assert.deepEqual(fs.readFileSync(file), before);
			assert.deepEqual(await api.loadEntriesFromFile(file), []);
		});
	}
});

describe("damaged lines", () => {
	test("a torn last line is skipped, kept, and the next append starts a fresh one", async () => {
		const torn = '{"type":"message","id":"00000005","parentId":"0000';
		const file = write("s/one.jsonl", text(...conversation()) + torn);
		const session = await SessionManager.open(file);
		assert.equal(session.getEntries().length, 4);
		assert.equal(session.getLoadReport().tornTail, fs.statSync(file).size - torn.length);
		const id = session.appendMessage(assistant("next"));
		const lines = fs.readFileSync(file, "utf8").split("\n");
		assert.equal(lines[5], torn);
		assert.equal(JSON.parse(lines[6]).id, id);
		const again = await SessionManager.open(file);
		assert.deepEqual(idsOf(again.getEntries()), [...idsOf(session.getEntries())]);
		assert.equal(again.getLoadReport().tornTail, null);
		assert.deepEqual(
			again.getLoadReport().skipped.map((skipped) => skipped.line),
			[6],
		);
	});

	test("a complete last line without its newline counts and is not run together with the next", async () => {
		const file = write("s/one.jsonl", text(...conversation()).trimEnd());
		const session = await SessionManager.open(file);
		assert.equal(session.getEntries().length, 4);
		session.appendMessage(assistant("next"));
		assert.ok(readLines(file).every((line) => line !== null));
		assert.equal(readLines(file).length, 6);
	});

	test("unreadable lines in the middle are counted and stay through appends and rewrites", async () => {
		const [header, one, two] = conversation();
		const file = write("s/one.jsonl", text(header, one, "{unreadable", "null", "7", "[]", two));
		const session = await SessionManager.open(file);
		assert.deepEqual(idsOf(session.getEntries()), ["00000001", "00000002"]);
		assert.deepEqual(
			session.getLoadReport().skipped.map(({ line, reason }) => [line, reason]),
			[
				[3, "not valid JSON"],
				[4, "not a JSON object"],
				[5, "not a JSON object"],
				[6, "not a JSON object"],
			],
		);
		assert.equal(session.getLoadReport().skipped[0].offset, text(header, one).length);
		session.appendMessage(user("next"));
		await session.setSessionName("Name");
		assert.deepEqual(fs.readFileSync(file, "utf8").split("\n").slice(2, 6), ["{unreadable", "null", "7", "[]"]);
	});

	test("several records on a line, and one behind a cut record, are read", async () => {
		const [header, one, two, three] = conversation();
		const cut = JSON.stringify(three).slice(0, -20);
		const four = messageLine(4, assistant("four"), { parentId: "00000002" });
		const file = write(
			"s/one.jsonl",
			`${JSON.stringify(header)}\n${JSON.stringify(one)}${JSON.stringify(two)}\n${cut}${JSON.stringify(four)}\n`,
		);
		const session = await SessionManager.open(file);
		assert.deepEqual(idsOf(session.getEntries()), ["00000001", "00000002", "00000004"]);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["one", "two", "four"]);
	});

	test("objects without an id stay in the file and are no entries", async () => {
		const marker = { type: "tool_marker", note: "x" };
		const file = write("s/one.jsonl", text(...conversation(), marker));
		const session = await SessionManager.open(file);
		assert.equal(session.getLeafId(), "00000004");
		const id = session.appendMessage(user("next"));
		assert.equal(session.getEntry(id).parentId, "00000004");
		await session.setSessionName("Name");
		assert.deepEqual(readLines(file)[5], marker);
	});

	test("a header that comes late is the header", async () => {
		const file = write("s/one.jsonl", text("garbage", { type: "note" }, ...conversation()));
		const session = await SessionManager.open(file);
		assert.equal(session.getSessionId(), HEADER.id);
		assert.equal(session.getEntries().length, 4);
		await session.setSessionName("Name");
		assert.equal(fs.readFileSync(file, "utf8").startsWith('garbage\n{"type":"note"}\n'), true);
	});

	for (const [name, encode] of [
		["CRLF", (lines) => lines.replaceAll("\n", "\r\n")],
		["a byte order mark", (lines) => `\ufeff${lines}`],
		["NUL padding", (lines) => lines.replace(/\n/g, "\n\0\0\0")],
		["blank lines", (lines) => lines.replaceAll("\n", "\n\n  \n")],
	]) {
		test(`${name} is accepted and kept`, async () => {
			const content = encode(text(...conversation()));
			const file = write("s/one.jsonl", content);
			const session = await SessionManager.open(file);
			assert.equal(session.getEntries().length, 4);
			session.appendMessage(user("five"));
			const after = fs.readFileSync(file, "utf8");
			assert.equal(after.startsWith(content), true);
			assert.equal((await SessionManager.open(file)).getEntries().length, 5);
		});
	}

	test("invalid UTF-8 is shown as U+FFFD and its bytes stay", async () => {
		const [header, one] = text(...conversation()).split("\n");
		const line = Buffer.from(one.replace('"one"', '"o\u0000e"').replace("\u0000", "\u0001"), "latin1");
		line[line.indexOf(1)] = 0xff;
		const file = write("s/one.jsonl", Buffer.concat([Buffer.from(`${header}\n`), line, Buffer.from("\n")]));
		const session = await SessionManager.open(file);
		assert.equal(session.getEntries()[0].message.content, "o\ufffde");
		await session.setSessionName("Name");
		assert.ok(fs.readFileSync(file).includes(line));
	});

	test("U+2028 does not end a line", async () => {
		const file = write("s/one.jsonl", text(HEADER, messageLine(1, user("a\u2028b\u2029c\u0085d"))));
		const session = await SessionManager.open(file);
		assert.equal(session.getEntries()[0].message.content, "a\u2028b\u2029c\u0085d");
	});

	test("a depth of 100,000 is read like any other", async () => {
		const data = `${"[".repeat(100_000)}7${"]".repeat(100_000)}`;
		const deep = `{"type":"custom","id":"00000002","parentId":"00000001","timestamp":"2024-12-03T14:00:02.000Z","customType":"deep","data":${data}}`;
		const file = write(
			"s/one.jsonl",
			text(HEADER, messageLine(1, user("one")), deep, messageLine(3, assistant("three"))),
		);
		const session = await SessionManager.open(file);
		assert.deepEqual(idsOf(session.getBranch()), ["00000001", "00000002", "00000003"]);
		let { data: value } = session.getEntry("00000002");
		let depth = 0;
		for (; Array.isArray(value); depth++) value = value[0];
		assert.deepEqual([depth, value], [100_000, 7]);
	});
});

describe("odd shapes", () => {
	test("are no reason for an error", async () => {
		const odd = [
			'{"type":"message","id":"a","parentId":null,"timestamp":"2024-12-03T14:00:01.000Z","message":null}',
			'{"type":"message","id":"b","parentId":"a","timestamp":7}',
			'{"type":"message","id":"c","parentId":7,"timestamp":null,"message":{"role":"assistant"}}',
			'{"type":"message","id":"d","parentId":"b","message":{"role":"user","content":null}}',
			'{"type":"message","id":"e","parentId":"d","timestamp":"?","message":{"role":"assistant","content":7,"usage":{"input":"x","cost":null}}}',
			'{"type":"custom_message","id":"f","parentId":"e","timestamp":"x","customType":"c"}',
			'{"type":"compaction","id":"g","parentId":"f","timestamp":"x"}',
			'{"type":"ttsr_injection","id":"h","parentId":"g","timestamp":"x","injectedRules":7}',
			'{"type":"mcp_tool_selection","id":"i","parentId":"h","timestamp":"x"}',
			'{"type":"label","id":"j","parentId":"i","timestamp":"x","targetId":7,"label":{}}',
			'{"type":7,"id":"k","parentId":"j","timestamp":"x"}',
			'{"id":"l","parentId":"k"}',
			'{"type":"message","id":"","parentId":"","timestamp":"x","message":[]}',
		];
		const file = write("s/one.jsonl", text({ ...HEADER, cwd: 7, title: null, timestamp: {} }, ...odd));
		const session = await SessionManager.open(file);
		assert.equal(session.getEntries().length, odd.length);
		const usage = session.getUsageStatistics();
		assert.ok(Object.values(usage).every(Number.isFinite));
		for (const entry of session.getEntries()) session.getBranch(entry.id);
		session.branch("l");
		const context = session.buildSessionContext();
		assert.ok(context.messages.every((message) => message !== null && message !== undefined));
		assert.equal(session.getTree().length > 0, true);
		assert.equal((await SessionManager.list("/srv", `${place.dir}/s`)).length, 1);
		session.appendMessage(user("goes on"));
		await session.close();
	});
});
