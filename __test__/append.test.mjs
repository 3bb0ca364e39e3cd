import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, HEADER, text, toolResult, user } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

/** A session that writes every entry at once. */
async function stored() {
	return SessionManager.open(at("s", "one.jsonl"));
}

/** The last line of the session's file. */
function lastLine(session) {
	return readLines(session.getSessionFile()).at(-1);
}

/** Calls of every append method with all arguments, and the fields that must come of it. */
const FULL = [
	["appendMessage", [user("hi")], "message", { message: user("hi") }],
	["appendThinkingLevelChange", ["high"], "thinking_level_change", { thinkingLevel: "high" }],
	["appendServiceTierChange", ["flex"], "service_tier_change", { serviceTier: "flex" }],
	["appendModelChange", ["openai/gpt-4o", "smol"], "model_change", { model: "openai/gpt-4o", role: "smol" }],
	["appendModeChange", ["plan", { file: "a.md" }], "mode_change", { mode: "plan", data: { file: "a.md" } }],
	[
		"appendSessionInit",
		[{ systemPrompt: "be kind", task: "dig", tools: ["bash", "read"], outputSchema: { type: "object" } }],
		"session_init",
		{ systemPrompt: "be kind", task: "dig", tools: ["bash", "read"], outputSchema: { type: "object" } },
	],
	[
		"appendCompaction",
		["long", "short", "00000001", 50_000, { v: 1 }, true, { k: 2 }],
		"compaction",
		{
			summary: "long",
			shortSummary: "short",
			firstKeptEntryId: "00000001",
			tokensBefore: 50_000,
			details: { v: 1 },
			fromExtension: true,
			preserveData: { k: 2 },
		},
	],
	["appendCustomEntry", ["ext", { count: 42 }], "custom", { customType: "ext", data: { count: 42 } }],
	[
		"appendCustomMessageEntry",
		["ext", [{ type: "text", text: "x" }], false, { d: 1 }, "user"],
		"custom_message",
		{
			customType: "ext",
			content: [{ type: "text", text: "x" }],
			display: false,
			details: { d: 1 },
			attribution: "user",
		},
	],
	["appendTtsrInjection", [["rule-a", "rule-b"]], "ttsr_injection", { injectedRules: ["rule-a", "rule-b"] }],
	["appendMCPToolSelection", [["t1"]], "mcp_tool_selection", { selectedToolNames: ["t1"] }],
];

/** The same with the optional arguments left out, in all the ways to leave them out. */
const SPARE = [
	["appendThinkingLevelChange", [], { thinkingLevel: null }],
	["appendThinkingLevelChange", [null], { thinkingLevel: null }],
	["appendServiceTierChange", [null], { serviceTier: null }],
	["appendModelChange", ["a/b"], { model: "a/b" }],
	["appendModelChange", ["a/b", null], { model: "a/b" }],
	["appendModeChange", ["none"], { mode: "none" }],
	["appendCompaction", ["s", undefined, "x", 1], { summary: "s", firstKeptEntryId: "x", tokensBefore: 1 }],
	["appendCompaction", ["s", null, "x", 1, null, null, null], { summary: "s", firstKeptEntryId: "x", tokensBefore: 1 }],
	["appendCustomEntry", ["ext"], { customType: "ext" }],
	["appendCustomEntry", ["ext", null], { customType: "ext", data: null }],
	[
		"appendCustomMessageEntry",
		["ext", "x", true],
		{ customType: "ext", content: "x", display: true, attribution: "agent" },
	],
];

describe("append", () => {
	for (const [method, args, type, fields] of FULL) {
		test(`${method} writes its entry with the envelope first and every field`, async () => {
			const session = await stored();
			const before = session.appendCustomEntry("before");
			const id = session[method](...args);
			const line = lastLine(session);
			assert.deepEqual(Object.keys(line).slice(0, 4), ["type", "id", "parentId", "timestamp"]);
			const { timestamp, ...rest } = line;
			assert.deepEqual(rest, { type, id, parentId: before, ...fields });
			assert.equal(new Date(timestamp).toISOString(), timestamp);
			assert.match(id, /^[0-9a-f]{8}$/);
			assert.equal(session.getLeafId(), id);
			assert.deepEqual(JSON.parse(JSON.stringify(session.getEntry(id))), line);
			const again = await SessionManager.open(session.getSessionFile());
			assert.deepEqual({ ...again.getEntry(id) }, line);
		});
	}

	for (const [method, args, fields] of SPARE) {
		test(`${method}(${JSON.stringify(args).slice(1, -1)}) leaves out what was not given`, async () => {
			const session = await stored();
			session[method](...args);
			const { type: _type, id: _id, parentId: _parent, timestamp: _time, ...rest } = lastLine(session);
			assert.deepEqual(rest, fields);
		});
	}

	test("branchWithSummary writes the branch point, or root", async () => {
		const session = await stored();
		const first = session.appendMessage(user("one"));
		session.appendMessage(assistant("two"));
		const id = session.branchWithSummary(first, "left", { d: 1 }, true);
		const { timestamp: _, ...line } = lastLine(session);
		assert.deepEqual(line, {
			type: "branch_summary",
			id,
			parentId: first,
			fromId: first,
			summary: "left",
			details: { d: 1 },
			fromExtension: true,
		});
		const root = session.branchWithSummary(null, "left again");
		const { timestamp: __, ...rootLine } = lastLine(session);
		assert.deepEqual(rootLine, {
			type: "branch_summary",
			id: root,
			parentId: null,
			fromId: "root",
			summary: "left again",
		});
	});

	test("appendLabelChange writes target and label, and no label to clear", async () => {
		const session = await stored();
		const target = session.appendMessage(user("one"));
		session.appendLabelChange(target, "checkpoint");
		assert.deepEqual([lastLine(session).targetId, lastLine(session).label], [target, "checkpoint"]);
		session.appendLabelChange(target, undefined);
		assert.equal("label" in lastLine(session), false);
	});

	test("the envelope of session_init is the session's, whatever the argument holds", async () => {
		const session = await stored();
		const id = session.appendSessionInit({
			systemPrompt: "",
			task: "",
			tools: [],
			id: "mine",
			parentId: "mine",
			type: "message",
			timestamp: 1,
		});
		assert.equal(session.getEntry(id).type, "session_init");
		assert.equal(session.getEntry(id).id, id);
	});

	test("ids are unique in the session", () => {
		const session = SessionManager.inMemory("/srv");
		const ids = Array.from({ length: 20_000 }, (_, at) => session.appendCustomEntry("tick", at));
		assert.equal(new Set(ids).size, ids.length);
	});

	test("ten thousand appends before the file exists are all written with the first answer", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		for (let at = 0; at < 10_000; at++) session.appendCustomEntry("tick", at);
		session.appendMessage(assistant("done"));
		assert.equal(readLines(session.getSessionFile()).length, 10_002);
	});

	test("every line is in the file when the append returns", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file);
		for (let at = 0; at < 20; at++) {
			session.appendMessage(toolResult(`result ${at}`));
			assert.equal(readLines(file).length, 6 + at);
		}
	});

	test("what is changed in a message before the file exists is what is written", () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const message = user("draft");
		const id = session.appendMessage(message);
		message.content = "final";
		session.appendMessage(assistant("answer"));
		assert.equal(readLines(session.getSessionFile())[1].message.content, "final");
		assert.equal(session.getEntry(id).message, message);
	});

	test("a message that became unwritable after its append is written as it was appended", () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const message = user("good");
		session.appendMessage(message);
		message.extra = 10n;
		session.appendMessage(assistant("answer"));
		assert.equal(readLines(session.getSessionFile())[1].message.content, "good");
	});

	test("half a surrogate pair is written as an escape and read back", async () => {
		const session = await stored();
		const id = session.appendMessage(user("half \ud83d end"));
		assert.match(fs.readFileSync(session.getSessionFile(), "utf8"), /half \\ud83d end/);
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(again.getEntry(id).message.content, "half \ud83d end");
	});
});

describe("values that JSON cannot hold", () => {
	const cycle = {};
	cycle.self = cycle;
	for (const [name, value] of [
		["a BigInt", { n: 10n }],
		["a cycle", cycle],
	]) {
		for (const where of ["in memory", "before the file exists", "in a file"]) {
			test(`${name} throws a TypeError ${where} and changes nothing`, async () => {
				const session =
					where === "in memory"
						? SessionManager.inMemory("/srv")
						: where === "in a file"
							? await SessionManager.open(write("s/one.jsonl", text(HEADER)))
							: SessionManager.create("/srv", at("s"));
				const first = session.appendMessage(user("one"));
				assert.throws(() => session.appendCustomEntry("bad", value), {
					name: "TypeError",
					code: "ERR_INVALID_ARGUMENT",
				});
				assert.throws(() => session.appendMessage({ role: "user", content: "x", value }), { name: "TypeError" });
				assert.throws(() => session.branchWithSummary(null, "s", value), { name: "TypeError" });
				assert.equal(session.getLeafId(), first);
				assert.equal(session.getEntries().length, 1);
				session.appendMessage(assistant("two"));
				await session.flush();
				if (session.isPersisted()) assert.equal(readLines(session.getSessionFile()).length, 3);
			});
		}
	}
});
