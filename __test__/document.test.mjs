/** Every method, type and example that the format's document names is there and does what its line says. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import * as api from "../index.mjs";
import { assistant, conversation, idsOf, text, textsOf, user } from "./support/lines.mjs";
import { at, freshPlaces, place, readLines, write } from "./support/place.mjs";

const { SessionManager } = api;
freshPlaces();

/** A session in memory with a question and its answer. */
function talk() {
	const session = SessionManager.inMemory("/srv/garden");
	const question = session.appendMessage(user("question"));
	const answer = session.appendMessage(assistant("answer"));
	return { session, question, answer };
}

/** Appends by `append`, and checks that it returns the id of a new leaf with these fields. */
function appends(append, type, fields) {
	const { session, answer } = talk();
	const id = append(session);
	const { timestamp, ...entry } = JSON.parse(JSON.stringify(session.getEntry(id)));
	assert.deepEqual(entry, { type, id, parentId: answer, ...fields });
	assert.equal(new Date(timestamp).toISOString(), timestamp);
	assert.equal(session.getLeafId(), id);
}

/** The methods of the document, each with what it promises of them. */
const METHODS = {
	"create(cwd, sessionDir?) starts a session": () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		assert.deepEqual([session.getCwd(), session.getSessionDir()], ["/srv/garden", at("s")]);
		assert.equal(session.getEntries().length, 0);
		assert.ok(SessionManager.create("/srv/garden").getSessionFile().startsWith(place.agent));
	},
	"open(path, sessionDir?) reads a session that is there": async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		assert.equal((await SessionManager.open(file)).getEntries().length, 4);
		assert.equal((await SessionManager.open(file, at("other"))).getSessionDir(), at("other"));
	},
	"continueRecent(cwd, sessionDir?) goes on with the last session or starts one": async () => {
		const fresh = await SessionManager.continueRecent("/srv/garden", at("s"));
		assert.equal(fresh.getEntries().length, 0);
		fresh.appendMessage(assistant("kept"));
		const again = await SessionManager.continueRecent("/srv/garden", at("s"));
		assert.deepEqual([again.getSessionId(), again.getEntries().length], [fresh.getSessionId(), 1]);
	},
	"inMemory(cwd?) writes no file": async () => {
		const { session } = talk();
		await session.flush();
		assert.deepEqual([session.getSessionFile(), session.isPersisted()], [undefined, false]);
		assert.equal(fs.existsSync(place.agent), false);
		assert.equal(SessionManager.inMemory().getCwd(), process.cwd());
	},

	"appendMessage(message) adds a message": () =>
		appends((session) => session.appendMessage(user("more")), "message", { message: user("more") }),
	"appendThinkingLevelChange(level) notes the level": () =>
		appends((session) => session.appendThinkingLevelChange("high"), "thinking_level_change", { thinkingLevel: "high" }),
	"appendModelChange(model, role?) notes provider/modelId and its role": () => {
		appends((session) => session.appendModelChange("a/b"), "model_change", { model: "a/b" });
		appends((session) => session.appendModelChange("a/b", "smol"), "model_change", { model: "a/b", role: "smol" });
	},
	"appendSessionInit(init) notes what a subagent started with": () => {
		const init = { systemPrompt: "p", task: "t", tools: ["bash"], outputSchema: { type: "object" } };
		appends((session) => session.appendSessionInit(init), "session_init", init);
	},
	"appendCompaction(summary, shortSummary, firstKeptEntryId, tokensBefore, details?, fromExtension?, preserveData?) adds a compaction":
		() => {
			const least = { summary: "long", firstKeptEntryId: "00000001", tokensBefore: 9 };
			appends((session) => session.appendCompaction("long", undefined, "00000001", 9), "compaction", least);
			appends(
				(session) => session.appendCompaction("long", "short", "00000001", 9, { d: 1 }, true, { p: 1 }),
				"compaction",
				{ ...least, shortSummary: "short", details: { d: 1 }, fromExtension: true, preserveData: { p: 1 } },
			);
		},
	"appendCustomEntry(customType, data?) keeps data out of the context": () => {
		appends((session) => session.appendCustomEntry("ext", { n: 1 }), "custom", { customType: "ext", data: { n: 1 } });
		const { session } = talk();
		session.appendCustomEntry("ext", { n: 1 });
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["question", "answer"]);
	},
	"appendCustomMessageEntry(customType, content, display, details?) puts a message into the context": () => {
		const fields = { customType: "ext", content: "injected", display: true, attribution: "agent" };
		appends((session) => session.appendCustomMessageEntry("ext", "injected", true), "custom_message", fields);
		appends((session) => session.appendCustomMessageEntry("ext", "injected", true, { d: 1 }), "custom_message", {
			...fields,
			details: { d: 1 },
		});
		const { session } = talk();
		session.appendCustomMessageEntry("ext", "injected", false);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["question", "answer", "injected"]);
	},
	"appendTtsrInjection(ruleNames) notes the rules": () =>
		appends((session) => session.appendTtsrInjection(["a", "b"]), "ttsr_injection", { injectedRules: ["a", "b"] }),
	"appendLabelChange(targetId, label) sets a label and clears it": () => {
		const { session, question } = talk();
		const id = session.appendLabelChange(question, "start");
		assert.deepEqual([session.getLeafId(), session.getEntry(id).targetId], [id, question]);
		assert.equal(session.getLabel(question), "start");
		session.appendLabelChange(question, undefined);
		assert.equal(session.getLabel(question), undefined);
	},

	"getLeafId() is where the next entry goes": () => {
		const { session, question, answer } = talk();
		assert.equal(session.getLeafId(), answer);
		session.branch(question);
		assert.equal(session.getLeafId(), question);
		assert.equal(SessionManager.inMemory().getLeafId(), null);
	},
	"getLeafEntry() is the entry there": () => {
		const { session, answer } = talk();
		assert.equal(session.getLeafEntry(), session.getEntry(answer));
		assert.equal(SessionManager.inMemory().getLeafEntry(), undefined);
	},
	"getEntry(id) finds an entry": () => {
		const { session, question } = talk();
		assert.equal(session.getEntry(question).message.content, "question");
		assert.equal(session.getEntry("unknown"), undefined);
	},
	"getBranch(fromId?) is the way between an entry and its root": () => {
		const { session, question, answer } = talk();
		assert.deepEqual(idsOf(session.getBranch()), [question, answer]);
		assert.deepEqual(idsOf(session.getBranch(question)), [question]);
	},
	"getTree() has every entry in its place": () => {
		const { session, question, answer } = talk();
		session.branch(question);
		const other = session.appendMessage(assistant("other"));
		const [root, ...more] = session.getTree();
		assert.deepEqual([root.entry.id, more.length], [question, 0]);
		assert.deepEqual(root.children.map((node) => node.entry.id).sort(), [answer, other].sort());
		assert.deepEqual(root.children[0].children, []);
	},
	"getChildren(parentId) has the children and no grandchildren": () => {
		const { session, question, answer } = talk();
		session.appendMessage(user("grandchild"));
		assert.deepEqual(idsOf(session.getChildren(question)), [answer]);
	},
	"getLabel(id) is the label of an entry": () => {
		const { session, question, answer } = talk();
		session.appendLabelChange(answer, "good");
		assert.deepEqual([session.getLabel(answer), session.getLabel(question)], ["good", undefined]);
	},
	"branch(entryId) moves the leaf and removes nothing": () => {
		const { session, question } = talk();
		session.branch(question);
		assert.equal(session.getEntry(session.appendMessage(assistant("other"))).parentId, question);
		assert.equal(session.getEntries().length, 3);
	},
	"branchWithSummary(entryId | null, summary, details?, fromExtension?) moves the leaf and adds a summary": () => {
		for (const from of ["question", null]) {
			const { session, question } = talk();
			const branchPoint = from && question;
			const id = session.branchWithSummary(branchPoint, "left", { d: 1 }, true);
			const { type, parentId, fromId, summary, details, fromExtension } = session.getEntry(id);
			assert.deepEqual([type, parentId, fromId], ["branch_summary", branchPoint, branchPoint ?? "root"]);
			assert.deepEqual([summary, details, fromExtension], ["left", { d: 1 }, true]);
			assert.equal(session.getLeafId(), id);
			const expected = from ? ["question", "left"] : ["left"];
			assert.deepEqual(textsOf(session.buildSessionContext().messages), expected);
		}
	},
	"resetLeaf() moves the leaf before the first entry": () => {
		const { session, question } = talk();
		session.resetLeaf();
		assert.equal(session.getLeafId(), null);
		const root = session.appendMessage(user("afresh"));
		assert.equal(session.getEntry(root).parentId, null);
		assert.deepEqual(idsOf(session.getChildren(null)), [question, root]);
	},

	"buildSessionContext() is what the model gets": () => {
		const { session, question } = talk();
		session.appendThinkingLevelChange("low");
		session.appendTtsrInjection(["rule"]);
		const context = session.buildSessionContext();
		assert.deepEqual(textsOf(context.messages), ["question", "answer"]);
		assert.deepEqual([context.thinkingLevel, context.injectedTtsrRules], ["low", ["rule"]]);
		assert.deepEqual(context.models, { default: "anthropic/claude-sonnet-4-5" });
		session.appendCompaction("in short", undefined, session.getEntries()[1].id, 10);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["in short", "answer"]);
		session.branch(question);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["question"]);
	},
	"getEntries() has every branch and no header": () => {
		const { session, question, answer } = talk();
		session.branch(question);
		const other = session.appendMessage(assistant("other"));
		assert.deepEqual(idsOf(session.getEntries()), [question, answer, other]);
	},
	"getHeader() has the session's own fields": () => {
		const { session } = talk();
		const { timestamp, ...header } = session.getHeader();
		assert.deepEqual(header, { type: "session", version: 3, id: session.getSessionId(), cwd: "/srv/garden" });
		assert.equal(new Date(timestamp).toISOString(), timestamp);
	},
};

describe("the document's method", () => {
	for (const [fact, check] of Object.entries(METHODS)) test(fact, check);
});

test("the documented parsing example reads what the manager writes", async () => {
	const session = SessionManager.create("/srv/garden");
	const id = session.appendMessage(user("Hello"));
	session.appendMessage(assistant("Hi!"));
	session.appendLabelChange(id, "x");
	await session.close();
	const entries = readLines(session.getSessionFile());
	assert.deepEqual(
		entries.map((entry) => entry.type),
		["session", "message", "message", "label"],
	);
	assert.deepEqual([entries[0].version, entries[0].id, entries[3].targetId], [3, session.getSessionId(), id]);
});

describe("the types", () => {
	const read = (name) => fs.readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
	const index = read("index.d.ts");
	const names = fs.readdirSync(new URL("../types/", import.meta.url)).filter((name) => name.endsWith(".d.ts"));
	const all = [index, ...names.map((name) => read(`types/${name}`))].join("\n");

	const TYPES = `SessionHeader SessionEntryBase SessionMessageEntry ModelChangeEntry ThinkingLevelChangeEntry
		CompactionEntry BranchSummaryEntry CustomEntry CustomMessageEntry LabelEntry TtsrInjectionEntry SessionInitEntry
		ServiceTierChangeEntry ModeChangeEntry MCPToolSelectionEntry SessionEntry FileEntry SessionTreeNode
		SessionContext SessionInfo ReadonlySessionManager NewSessionOptions UsageStatistics ResolvedSessionMatch
		RecentSessionInfo SessionStorage SessionStorageWriter SessionStorageStat AgentMessage ThinkingLevel Message
		UserMessage Usage ToolCall TextContent ImageContent SessionError SessionErrorCode LoadReport`.split(/\s+/);

	test("name every type of the document and of the API", () => {
		for (const name of TYPES) assert.match(all, new RegExp(`^export (interface|type) ${name}\\b`, "m"), name);
	});

	test("are all given by the package", () => {
		for (const name of names)
			assert.ok(index.includes(`export * from "./types/${name.replace(".d.ts", ".js")}";`), name);
	});

	test("declare exactly the values that the package exports", () => {
		const declared = [...all.matchAll(/^export (?:function|class|const) (\w+)/gm)].map((match) => match[1]);
		const exported = Object.keys(api).filter((name) => name !== "default");
		assert.deepEqual(declared.sort(), exported.sort());
	});

	test("declare exactly the members that the class has", () => {
		const body = index.slice(index.indexOf("export class SessionManager {"));
		const members = [...body.slice(0, body.indexOf("\n}\n")).matchAll(/^\t(static )?(\w+)(?:<[^(]*>)?\(/gm)];
		const declared = (isStatic) => members.filter((match) => Boolean(match[1]) === isStatic).map((match) => match[2]);
		const methods = Object.getOwnPropertyNames(SessionManager.prototype).filter((name) => name !== "constructor");
		assert.deepEqual(declared(false).sort(), methods.sort());
		const statics = Object.getOwnPropertyNames(SessionManager).filter(
			(name) => typeof SessionManager[name] === "function" && name !== "prototype",
		);
		assert.deepEqual(declared(true).sort(), statics.sort());
	});
});
