/** Every method and type that the format's document names is there. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { SessionManager } from "../index.mjs";
import { freshPlaces } from "./support/place.mjs";

freshPlaces();

const STATIC = ["create", "open", "continueRecent", "inMemory", "forkFrom", "list", "listAll", "getDefaultSessionDir"];
const METHODS = `appendMessage appendThinkingLevelChange appendModelChange appendSessionInit appendCompaction
	appendCustomEntry appendCustomMessageEntry appendTtsrInjection appendLabelChange appendServiceTierChange
	appendModeChange appendMCPToolSelection getLeafId getLeafEntry getEntry getBranch getTree getChildren getLabel
	branch branchWithSummary resetLeaf buildSessionContext getEntries getHeader getCwd getSessionDir getSessionId
	getSessionFile getSessionName isPersisted getUsageStatistics getArtifactsDir createBranchedSession
	getLastModelChangeRole getInjectedTtsrRules captureState restoreState
	sanitizeLoadedOpenAIResponsesReplayMetadata newSession setSessionFile setSessionName fork moveTo ensureOnDisk
	rewriteEntries flush close allocateArtifactPath saveArtifact getArtifactPath putBlob refresh getLoadReport`.split(
	/\s+/,
);
const TYPES = `SessionHeader SessionEntryBase SessionMessageEntry ModelChangeEntry ThinkingLevelChangeEntry
	CompactionEntry BranchSummaryEntry CustomEntry CustomMessageEntry LabelEntry TtsrInjectionEntry SessionInitEntry
	ServiceTierChangeEntry ModeChangeEntry MCPToolSelectionEntry SessionEntry FileEntry SessionTreeNode SessionContext
	SessionInfo ReadonlySessionManager NewSessionOptions UsageStatistics ResolvedSessionMatch SessionStorage
	SessionStorageWriter SessionStorageStat AgentMessage ThinkingLevel Message Usage`.split(/\s+/);

test("the class has every documented static and method", () => {
	for (const name of STATIC) assert.equal(typeof SessionManager[name], "function", name);
	for (const name of METHODS) assert.equal(typeof SessionManager.prototype[name], "function", name);
});

test("the types name every documented type and every method", () => {
	const read = (name) => fs.readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
	const types = ["index.d.ts", "types/entries.d.ts", "types/messages.d.ts", "types/storage.d.ts"].map(read).join("\n");
	for (const name of TYPES) assert.match(types, new RegExp(`export (interface|type|class) ${name}\\b`), name);
	for (const name of [...STATIC, ...METHODS]) assert.match(types, new RegExp(`\\b${name}[<(]`), name);
});

test("the documented parsing example reads what the manager writes", async () => {
	const session = SessionManager.create("/srv/garden");
	const id = session.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
	session.appendMessage({ role: "assistant", content: [], timestamp: 2 });
	session.appendLabelChange(id, "x");
	await session.close();
	const entries = fs
		.readFileSync(session.getSessionFile(), "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	assert.deepEqual(
		entries.map((entry) => entry.type),
		["session", "message", "message", "label"],
	);
	assert.deepEqual([entries[0].version, entries[0].id, entries[3].targetId], [3, session.getSessionId(), id]);
});
