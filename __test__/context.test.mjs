import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { buildSessionContext, SessionManager } from "../index.mjs";
import {
	assistant,
	conversation,
	EMPTY_CONTEXT,
	entry,
	HEADER,
	messageLine,
	text,
	textsOf,
	time,
	user,
} from "./support/lines.mjs";
import { freshPlaces, write } from "./support/place.mjs";

freshPlaces();

async function open(...lines) {
	return SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
}

describe("buildSessionContext", () => {
	test("is empty without entries and before the first one", async () => {
		const session = await open(...conversation().slice(1));
		session.resetLeaf();
		assert.deepEqual(session.buildSessionContext(), EMPTY_CONTEXT);
		assert.deepEqual(SessionManager.inMemory("/srv").buildSessionContext(), EMPTY_CONTEXT);
		assert.deepEqual(buildSessionContext([]), EMPTY_CONTEXT);
	});

	test("takes the last setting of each kind on the path, and only on the path", async () => {
		const session = await open(
			messageLine(1, user("one")),
			entry(2, "thinking_level_change", { thinkingLevel: "low" }),
			entry(3, "thinking_level_change", { thinkingLevel: "high" }),
			entry(4, "model_change", { model: "a/one" }),
			entry(5, "model_change", { model: "b/two", role: "smol" }),
			entry(6, "service_tier_change", { serviceTier: "flex" }),
			entry(7, "mode_change", { mode: "plan", data: { file: "p.md" } }),
			entry(8, "mcp_tool_selection", { selectedToolNames: ["t1", "t2"] }),
			entry(9, "ttsr_injection", { injectedRules: ["b", "a"] }),
			entry(10, "ttsr_injection", { injectedRules: ["a", "c"] }),
			entry(11, "thinking_level_change", { thinkingLevel: "xhigh" }, { parentId: "00000001" }),
			entry(12, "custom", { customType: "leaf" }, { parentId: "0000000a" }),
		);
		const { messages, ...settings } = session.buildSessionContext();
		assert.deepEqual(settings, {
			thinkingLevel: "high",
			serviceTier: "flex",
			models: { default: "a/one", smol: "b/two" },
			injectedTtsrRules: ["b", "a", "c"],
			selectedMCPToolNames: ["t1", "t2"],
			hasPersistedMCPToolSelection: true,
			mode: "plan",
			modeData: { file: "p.md" },
		});
		assert.deepEqual(textsOf(messages), ["one"]);
		assert.deepEqual(session.getInjectedTtsrRules(), ["b", "a", "c"]);
		assert.equal(session.getLastModelChangeRole(), "smol");
	});

	test("a null level is off, and an assistant message sets the default model", async () => {
		const session = await open(
			entry(1, "thinking_level_change", { thinkingLevel: "high" }),
			entry(2, "thinking_level_change", { thinkingLevel: null }),
			entry(3, "model_change", { model: "a/one" }),
			messageLine(4, assistant("x", { provider: "p", model: "m/n" })),
		);
		const context = session.buildSessionContext();
		assert.equal(context.thinkingLevel, "off");
		assert.deepEqual(context.models, { default: "p/m/n" });
	});

	test("custom messages and branch summaries become messages, other entries do not", async () => {
		const session = await open(
			messageLine(1, user("one")),
			entry(2, "custom_message", {
				customType: "ext",
				content: "injected",
				display: true,
				details: { d: 1 },
				attribution: "user",
			}),
			entry(3, "branch_summary", { fromId: "00000001", summary: "left behind" }),
			entry(4, "branch_summary", { fromId: "00000001", summary: "" }),
			entry(5, "custom", { customType: "ext", data: 1 }),
			entry(6, "label", { targetId: "00000001", label: "x" }),
			entry(7, "session_init", { systemPrompt: "", task: "", tools: [] }),
		);
		assert.deepEqual(session.buildSessionContext().messages, [
			user("one"),
			{
				role: "custom",
				customType: "ext",
				content: "injected",
				display: true,
				details: { d: 1 },
				attribution: "user",
				timestamp: Date.parse(time(2)),
			},
			{ role: "branchSummary", summary: "left behind", fromId: "00000001", timestamp: Date.parse(time(3)) },
		]);
	});

	test("messages are the entries' own", async () => {
		const session = await open(...conversation().slice(1));
		const { messages } = session.buildSessionContext();
		assert.deepEqual(
			messages.map((message, at) => message === session.getEntries()[at].message),
			[true, true, true, true],
		);
	});
});

describe("compaction", () => {
	const compaction = (number, firstKeptEntryId, rest = {}) =>
		entry(number, "compaction", {
			summary: "summary",
			shortSummary: "short",
			firstKeptEntryId,
			tokensBefore: 900,
			...rest,
		});

	test("gives the summary, what it keeps, then what follows", async () => {
		const session = await open(...conversation().slice(1), compaction(5, "00000003"), messageLine(6, user("after")));
		const { messages } = session.buildSessionContext();
		assert.deepEqual(textsOf(messages), ["summary", "three", "four", "after"]);
		assert.deepEqual(messages[0], {
			role: "compactionSummary",
			summary: "summary",
			shortSummary: "short",
			tokensBefore: 900,
			providerPayload: undefined,
			timestamp: Date.parse(time(5)),
		});
	});

	for (const [name, id] of [
		["an unknown id", "nothing"],
		["its own id", "00000005"],
		["an id behind it", "00000006"],
		["no id", undefined],
	]) {
		test(`keeps nothing for ${name}`, async () => {
			const session = await open(...conversation().slice(1), compaction(5, id), messageLine(6, user("after")));
			assert.deepEqual(textsOf(session.buildSessionContext().messages), ["summary", "after"]);
		});
	}

	test("the last one on the path counts, and may keep entries from before the one before it", async () => {
		const session = await open(
			...conversation().slice(1),
			compaction(5, "00000004", { summary: "first" }),
			messageLine(6, user("between")),
			compaction(7, "00000003", { summary: "second" }),
			messageLine(8, user("after")),
		);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["second", "three", "four", "between", "after"]);
		session.branch("00000006");
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["first", "four", "between"]);
	});

	test("a provider's own history takes the place of what is kept", async () => {
		const remote = { provider: "openai", replacementHistory: [{ a: 1 }] };
		const session = await open(
			...conversation().slice(1),
			compaction(5, "00000001", { preserveData: { openaiRemoteCompaction: remote } }),
			messageLine(6, user("after")),
		);
		const { messages } = session.buildSessionContext();
		assert.deepEqual(textsOf(messages), ["summary", "after"]);
		assert.deepEqual(messages[0].providerPayload, {
			type: "openaiResponsesHistory",
			provider: "openai",
			items: [{ a: 1 }],
		});
	});

	for (const remote of [
		null,
		7,
		{},
		{ provider: "", replacementHistory: [] },
		{ provider: "x" },
		{ replacementHistory: [] },
	]) {
		test(`${JSON.stringify(remote)} is no history of a provider`, async () => {
			const session = await open(
				...conversation().slice(1),
				compaction(5, "00000004", { preserveData: { openaiRemoteCompaction: remote } }),
			);
			assert.deepEqual(textsOf(session.buildSessionContext().messages), ["summary", "four"]);
		});
	}
});
