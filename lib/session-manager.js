/**
 * The documented class: checks arguments, keeps the order of asynchronous operations, and hands the
 * work to the session it is on.
 */

const path = require("node:path");
const { sessionError, argumentError } = require("./error.js");
const args = require("./arguments.js");
const fields = require("./entry-fields.js");
const { EntryWriter } = require("./entry-writer.js");
const { contextFromPlan } = require("./context.js");
const { hasReplayPayload, withoutReplay } = require("./loaded-entry.js");
const { Artifacts, artifactsDir } = require("./artifacts.js");
const { getBlobsDir } = require("./places.js");
const native = require("./binding.js");
const damage = require("./damage.js");
const factories = require("./session-factories.js");
const lists = require("./list.js");
const files = require("./session-files.js");
const moving = require("./session-moving.js");

/** Lets the factories construct managers; nobody else has it. */
const KEY = Symbol("SessionManager");

/** What a manager was when its state was captured, by the object handed out. */
const captures = new WeakMap();

class SessionManager {
	/** Everything that changes when the manager changes to another session. */
	#on;
	#writer;
	#queue = Promise.resolve();
	#artifacts = new Artifacts();

	constructor(key, on) {
		if (key !== KEY) {
			throw argumentError(
				"SessionManager",
				"constructor",
				"not to be called",
				"use create, open, continueRecent or inMemory",
			);
		}
		this.#on = on;
		this.#writer = new EntryWriter(on);
	}

	get #state() {
		return this.#on.state;
	}

	// ---- creation

	static create(cwd, sessionDir, storage) {
		return new SessionManager(KEY, factories.create(cwd, sessionDir, storage));
	}

	static inMemory(cwd, storage) {
		return new SessionManager(KEY, factories.inMemory(cwd, storage));
	}

	static async open(filePath, sessionDir, storage) {
		return new SessionManager(KEY, await factories.open(filePath, sessionDir, storage));
	}

	static async continueRecent(cwd, sessionDir, storage) {
		return new SessionManager(KEY, await factories.continueRecent(cwd, sessionDir, storage));
	}

	static async forkFrom(sourcePath, cwd, sessionDir, storage) {
		return new SessionManager(KEY, await factories.forkFrom(sourcePath, cwd, sessionDir, storage));
	}

	static getDefaultSessionDir(cwd, agentDir, storage) {
		return factories.getDefaultSessionDir(cwd, agentDir, storage);
	}

	static async list(cwd, sessionDir, storage) {
		return lists.list(cwd, sessionDir, storage);
	}

	static async listAll(storage) {
		return lists.listAll(storage);
	}

	static async verify(filePath) {
		return damage.verify(filePath);
	}

	static async repair(filePath, options) {
		return damage.repair(filePath, options);
	}

	// ---- what it is

	getCwd() {
		return this.#on.cwd;
	}

	getSessionDir() {
		files.follow(this.#on);
		return this.#on.sessionDir;
	}

	getSessionId() {
		return this.#state.header.id;
	}

	getSessionFile() {
		files.follow(this.#on);
		return this.#state.file;
	}

	getSessionName() {
		return this.#state.name;
	}

	isPersisted() {
		return this.#on.persist;
	}

	getHeader() {
		return this.#state.header;
	}

	getUsageStatistics() {
		const [input, output, cacheRead, cacheWrite, premiumRequests, cost] = this.#state.native.usage();
		return { input, output, cacheRead, cacheWrite, premiumRequests, cost };
	}

	/** What reading the file showed. */
	getLoadReport() {
		const report = JSON.parse(this.#state.native.report());
		return { ...report, path: this.getSessionFile() };
	}

	// ---- appending

	appendMessage(message) {
		args.requireObject("appendMessage", "message", message);
		return this.#writer.append("message", message, { message });
	}

	appendThinkingLevelChange(thinkingLevel) {
		return this.#writer.append("thinking_level_change", fields.thinkingLevelChange(thinkingLevel));
	}

	appendServiceTierChange(serviceTier) {
		return this.#writer.append("service_tier_change", fields.serviceTierChange(serviceTier));
	}

	appendModeChange(mode, data) {
		return this.#writer.append("mode_change", fields.modeChange(mode, data));
	}

	appendModelChange(model, role) {
		return this.#writer.append("model_change", fields.modelChange(model, role));
	}

	appendSessionInit(init) {
		return this.#writer.append("session_init", fields.sessionInit(init));
	}

	appendCompaction(...given) {
		return this.#writer.append("compaction", fields.compaction(...given));
	}

	appendCustomEntry(customType, data) {
		return this.#writer.append("custom", fields.custom(customType, data));
	}

	appendCustomMessageEntry(...given) {
		return this.#writer.append("custom_message", fields.customMessage(...given));
	}

	appendTtsrInjection(ruleNames) {
		return this.#writer.append("ttsr_injection", fields.ttsrInjection(ruleNames));
	}

	appendMCPToolSelection(selectedToolNames) {
		return this.#writer.append("mcp_tool_selection", fields.mcpToolSelection(selectedToolNames));
	}

	appendLabelChange(targetId, label) {
		const change = fields.labelChange(targetId, label);
		this.#require(targetId);
		return this.#writer.append("label", change);
	}

	/**
	 * Reads entries. If the file was replaced while it was closed, the session is brought to what it is
	 * now, and the reading is done again.
	 */
	#reading(work) {
		try {
			return work(this.#on.state.cache);
		} catch (error) {
			if (error?.code !== "ERR_SESSION_CONFLICT") throw error;
			this.#on.state.reopen();
			return work(this.#on.state.cache);
		}
	}

	// ---- tree

	#require(id) {
		const entry = this.getEntry(id);
		if (!entry) throw sessionError("ERR_ENTRY_NOT_FOUND", `Entry ${id} not found`, { entryId: id });
		return entry;
	}

	getLeafId() {
		return this.#on.state.leafId;
	}

	getLeafEntry() {
		return this.#reading((cache) => {
			const leaf = cache.native.leaf();
			return leaf === null ? undefined : cache.at(leaf);
		});
	}

	getEntry(id) {
		// Checked here and not in a call: this is asked for each entry of a long session.
		if (typeof id !== "string") args.requireString("getEntry", "id", id);
		return this.#on.state.cache.known(id) ?? this.#reading((cache) => cache.get(id));
	}

	getEntries() {
		return this.#reading((cache) => cache.all());
	}

	getChildren(parentId) {
		if (parentId === null || parentId === undefined) return this.#reading((cache) => cache.children(undefined));
		if (typeof parentId !== "string") args.requireString("getChildren", "parentId", parentId);
		return this.#on.state.cache.knownChildren(parentId) ?? this.#reading((cache) => cache.childrenOf(parentId));
	}

	getLabel(id) {
		if (typeof id !== "string") args.requireString("getLabel", "id", id);
		return this.#on.state.cache.label(id);
	}

	getBranch(fromId) {
		const from = args.optionalString("getBranch", "fromId", fromId);
		return this.#reading((cache) => {
			const leaf = from === undefined ? cache.native.leaf() : cache.indexOf(from);
			return leaf === undefined || leaf === null ? [] : cache.branch(leaf);
		});
	}

	getTree() {
		return this.#reading((cache) => cache.tree());
	}

	branch(branchFromId) {
		args.requireString("branch", "branchFromId", branchFromId);
		this.#require(branchFromId);
		this.#writer.moveLeaf(branchFromId);
	}

	resetLeaf() {
		this.#writer.moveLeaf(null);
	}

	branchWithSummary(branchFromId, summary, details, fromExtension) {
		const from = branchFromId ?? null;
		if (from !== null) {
			args.requireString("branchWithSummary", "branchFromId", from);
			this.#require(from);
		}
		const summarized = fields.branchSummary(from, summary, details, fromExtension);
		return this.#writer.append("branch_summary", summarized, summarized, from);
	}

	getLastModelChangeRole() {
		const change = this.getBranch().findLast((entry) => entry.type === "model_change");
		return change && (change.role ?? "default");
	}

	getInjectedTtsrRules() {
		return this.#reading((cache) => {
			const rules = cache.plan().settings.injections.flatMap((index) => cache.at(index).injectedRules ?? []);
			return [...new Set(rules)];
		});
	}

	// ---- context

	buildSessionContext() {
		return this.#reading((cache) => {
			const plan = cache.plan();
			if (plan.settings.compaction !== null) cache.load(plan.kept);
			cache.load(plan.messages);
			return contextFromPlan(plan, (index) => cache.at(index));
		});
	}

	/** Takes replay data of former provider connections out of the messages in memory. */
	sanitizeLoadedOpenAIResponsesReplayMetadata() {
		const { cache } = this.#state;
		let sanitized = false;
		// Messages that nobody has read yet are cleaned when they are read.
		for (const index of cache.made()) {
			const entry = cache.peek(index);
			if (!cache.isOwn(index) || entry.type !== "message" || !hasReplayPayload(entry.message)) continue;
			entry.message = withoutReplay(entry.message);
			sanitized = true;
		}
		return sanitized;
	}

	// ---- files

	/** Runs operations that change where the session is one after the other. */
	#inTurn(operation) {
		const run = this.#queue.then(() => operation());
		this.#queue = run.catch(() => {});
		return run;
	}

	async newSession(options) {
		return this.#inTurn(async () => {
			const file = await files.newSession(this.#on, options);
			this.#artifacts.forget();
			return file;
		});
	}

	async setSessionFile(sessionFile) {
		args.requirePath("setSessionFile", "sessionFile", sessionFile);
		return this.#inTurn(() => files.setSessionFile(this.#on, path.resolve(sessionFile)));
	}

	async setSessionName(name) {
		args.requireString("setSessionName", "name", name);
		return this.#inTurn(() => files.setSessionName(this.#on, name));
	}

	async fork() {
		return this.#inTurn(() => moving.fork(this.#on));
	}

	async moveTo(newCwd) {
		args.requirePath("moveTo", "newCwd", newCwd);
		return this.#inTurn(() => moving.moveTo(this.#on, newCwd));
	}

	createBranchedSession(leafId) {
		args.requireString("createBranchedSession", "leafId", leafId);
		return moving.createBranchedSession(this.#on, leafId);
	}

	async ensureOnDisk() {
		return this.#inTurn(() => files.ensureOnDisk(this.#on));
	}

	async rewriteEntries() {
		return this.#inTurn(() => files.rewriteEntries(this.#on));
	}

	async flush() {
		return this.#inTurn(() => files.flush(this.#on));
	}

	async close() {
		return this.#inTurn(() => files.close(this.#on));
	}

	/** Takes in what others appended; resolves to the number of entries. */
	async refresh() {
		return this.#inTurn(() => files.refresh(this.#on));
	}

	captureState() {
		const { state } = this.#on;
		const capture = {
			sessionId: this.getSessionId(),
			sessionName: state.name,
			sessionFile: this.getSessionFile(),
		};
		captures.set(capture, files.captureState(this.#on));
		return capture;
	}

	restoreState(snapshot) {
		const captured = captures.get(snapshot);
		if (!captured)
			throw argumentError("restoreState", "snapshot", "a result of captureState()", args.describe(snapshot));
		files.restoreState(this.#on, captured);
	}

	// ---- artifacts and blobs

	getArtifactsDir() {
		const file = this.getSessionFile();
		return file === undefined ? null : artifactsDir(file);
	}

	async allocateArtifactPath(toolType) {
		args.requireString("allocateArtifactPath", "toolType", toolType);
		return this.#artifacts.of(this.getSessionFile()).allocatePath(toolType);
	}

	async saveArtifact(content, toolType) {
		args.requireString("saveArtifact", "content", content);
		args.requireString("saveArtifact", "toolType", toolType);
		return this.#artifacts.of(this.getSessionFile()).save(content, toolType);
	}

	async getArtifactPath(id) {
		args.requireString("getArtifactPath", "id", id);
		return this.#artifacts.of(this.getSessionFile()).getPath(id);
	}

	async putBlob(data) {
		if (!(data instanceof Uint8Array)) throw argumentError("putBlob", "data", "a Buffer", args.describe(data));
		const dir = getBlobsDir();
		const hash = await native.putBlob(dir, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
		return { hash, path: path.join(dir, hash), ref: `blob:sha256:${hash}` };
	}
}

module.exports = { SessionManager };
