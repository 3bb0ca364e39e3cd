import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionManager } from "../index.mjs";
import { HEADER, text } from "./support/lines.mjs";
import { freshPlaces, write } from "./support/place.mjs";

freshPlaces();

const base = (id, parentId) => ({ id, parentId, timestamp: "2024-12-03T14:00:01.000Z" });

/** Every entry type of the format with every field it may have. */
const ENTRIES = [
	{ type: "message", ...base("a1b2c3d4", null), message: { role: "user", content: "Hello" } },
	{
		type: "message",
		...base("b2c3d4e5", "a1b2c3d4"),
		message: {
			role: "assistant",
			content: [{ type: "text", text: "Hi!" }],
			provider: "anthropic",
			model: "claude-sonnet-4-5",
			usage: {},
			stopReason: "stop",
		},
	},
	{
		type: "message",
		...base("c3d4e5f6", "b2c3d4e5"),
		message: {
			role: "toolResult",
			toolCallId: "call_123",
			toolName: "bash",
			content: [{ type: "text", text: "output" }],
			isError: false,
		},
	},
	{
		type: "message",
		...base("c3d4e5f7", "c3d4e5f6"),
		message: { role: "bashExecution", command: "ls", output: "", exitCode: 0, cancelled: false },
	},
	{
		type: "message",
		...base("c3d4e5f8", "c3d4e5f7"),
		message: { role: "pythonExecution", code: "1", output: "1", exitCode: 0, cancelled: false },
	},
	{
		type: "message",
		...base("c3d4e5f9", "c3d4e5f8"),
		message: { role: "fileMention", files: [{ path: "a", content: "b", lineCount: 1 }] },
	},
	{ type: "model_change", ...base("d4e5f6g7", "c3d4e5f9"), model: "openai/gpt-4o", role: "default" },
	{ type: "thinking_level_change", ...base("e5f6g7h8", "d4e5f6g7"), thinkingLevel: "high" },
	{
		type: "compaction",
		...base("f6g7h8i9", "e5f6g7h8"),
		summary: "User discussed X",
		shortSummary: "Quick recap",
		firstKeptEntryId: "c3d4e5f6",
		tokensBefore: 50_000,
		details: { index: 1 },
		preserveData: { k: [1] },
		fromExtension: false,
	},
	{
		type: "branch_summary",
		...base("g7h8i9j0", "a1b2c3d4"),
		fromId: "f6g7h8i9",
		summary: "Approach A",
		details: {},
		fromExtension: true,
	},
	{ type: "custom", ...base("h8i9j0k1", "g7h8i9j0"), customType: "my-extension", data: { count: 42 } },
	{
		type: "custom_message",
		...base("i9j0k1l2", "h8i9j0k1"),
		customType: "my-extension",
		content: "Injected",
		display: true,
		details: { x: 1 },
	},
	{ type: "label", ...base("j0k1l2m3", "i9j0k1l2"), targetId: "a1b2c3d4", label: "checkpoint-1" },
	{ type: "ttsr_injection", ...base("k1l2m3n4", "j0k1l2m3"), injectedRules: ["rule-a", "rule-b"] },
	{
		type: "session_init",
		...base("l2m3n4o5", "k1l2m3n4"),
		systemPrompt: "be kind",
		task: "Initial task",
		tools: ["bash", "read"],
		outputSchema: { type: "object" },
	},
	{ type: "service_tier_change", ...base("m3n4o5p6", "l2m3n4o5"), serviceTier: "priority" },
	{ type: "mode_change", ...base("n4o5p6q7", "m3n4o5p6"), mode: "plan", data: { file: "plan.md" } },
	{ type: "mcp_tool_selection", ...base("o5p6q7r8", "n4o5p6q7"), selectedToolNames: ["t"] },
	{ type: "from_the_future", ...base("p6q7r8s9", "o5p6q7r8"), anything: { deep: [1, { two: 2 }] } },
];

for (const entry of ENTRIES) {
	test(`${entry.type} ${entry.message?.role ?? ""} is read with every field`, async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ...ENTRIES)));
		const seen = session.getEntry(entry.id);
		assert.deepEqual(Object.keys(seen), Object.keys(entry));
		assert.deepEqual({ ...seen }, entry);
		assert.deepEqual(JSON.parse(JSON.stringify(seen)), entry);
	});
}

test("a header keeps every field, also unknown ones", async () => {
	const header = { ...HEADER, title: "Optional title", parentSession: "/path/to/original.jsonl", branchOf: { x: 1 } };
	const session = await SessionManager.open(write("s/one.jsonl", text(header)));
	assert.deepEqual(session.getHeader(), header);
	assert.equal(session.getSessionName(), "Optional title");
});

test("getEntries has every entry in file order and no header", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ...ENTRIES)));
	assert.deepEqual(
		session.getEntries().map((entry) => entry.id),
		ENTRIES.map((entry) => entry.id),
	);
});

test("an unread entry looks like any other to keys, spread, in, copies and comparison", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ENTRIES[0])));
	const [entry] = session.getEntries();
	assert.deepEqual(Object.keys(entry), ["type", "id", "parentId", "timestamp", "message"]);
	assert.equal("message" in entry, true);
	assert.equal(Object.hasOwn(entry, "message"), true);
	assert.deepEqual(structuredClone(entry), ENTRIES[0]);
	const [again] = (await SessionManager.open(session.getSessionFile())).getEntries();
	assert.deepEqual({ ...again }, ENTRIES[0]);
	assert.deepEqual(Object.entries(again), Object.entries(ENTRIES[0]));
});

test("an unread entry answers when frozen, inherited from, or behind a proxy", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ENTRIES[0])));
	const [entry] = session.getEntries();
	const child = Object.create(entry);
	assert.equal(child.message.content, "Hello");
	const file = session.getSessionFile();
	const frozen = Object.freeze((await SessionManager.open(file)).getEntries()[0]);
	assert.equal(frozen.message.content, "Hello");
	assert.equal(frozen.message, frozen.message);
	const proxy = new Proxy((await SessionManager.open(file)).getEntries()[0], {});
	assert.equal(proxy.message.content, "Hello");
});

test("assigning the message of an unread entry replaces it", async () => {
	const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ENTRIES[0])));
	const [entry] = session.getEntries();
	entry.message = { role: "user", content: "other" };
	assert.equal(session.getEntry("a1b2c3d4").message.content, "other");
});
