/**
 * omp-session: the session store of the oh-my-pi coding agent.
 *
 * Methods that return a Promise do their work off the JavaScript thread. Errors are `Error` objects
 * with a string `code` (see {@link SessionErrorCode}); an argument of the wrong type throws a
 * `TypeError` with code `ERR_INVALID_ARGUMENT`. An optional argument given as `null` counts as not
 * given.
 */

import type { CompactionEntry, FileEntry, SessionEntry, SessionHeader } from "./types/entries.js";
import type {
	BashExecutionMessage,
	CustomMessage,
	FileMentionMessage,
	HookMessage,
	ImageContent,
	Message,
	MessageAttribution,
	PythonExecutionMessage,
	ServiceTier,
	TextContent,
} from "./types/messages.js";
import type {
	BlobPutResult,
	LoadReport,
	RecentSessionInfo,
	RepairResult,
	ResolvedSessionMatch,
	SessionContext,
	SessionInfo,
	SessionManagerStateSnapshot,
	SessionTreeNode,
	UsageStatistics,
	Verification,
} from "./types/results.js";
import type { SessionStorage } from "./types/storage.js";

export * from "./types/entries.js";
export * from "./types/errors.js";
export * from "./types/messages.js";
export * from "./types/results.js";
export * from "./types/storage.js";

/** The version of the format that is written. */
export const CURRENT_SESSION_VERSION: 3;

export interface NewSessionOptions {
	/** Stored in the header as it is. */
	parentSession?: string;
}

/** The members that only read. */
export type ReadonlySessionManager = Pick<
	SessionManager,
	| "getCwd"
	| "getSessionDir"
	| "getSessionId"
	| "getSessionFile"
	| "getArtifactsDir"
	| "allocateArtifactPath"
	| "saveArtifact"
	| "getArtifactPath"
	| "getLeafId"
	| "getLeafEntry"
	| "getEntry"
	| "getLabel"
	| "getBranch"
	| "getHeader"
	| "getEntries"
	| "getTree"
	| "getUsageStatistics"
	| "putBlob"
>;

/**
 * A conversation as a tree of entries in a JSONL file.
 *
 * The leaf is the current position: an append adds a child to it and moves it there. Entries are
 * never changed or removed by the session; their objects are the same at every call, and what a
 * caller changes in them is written by the next rewrite.
 *
 * ```ts
 * const session = SessionManager.create("/path/to/project");
 * const question = session.appendMessage({ role: "user", content: "Hello", timestamp: Date.now() });
 * session.branch(question);
 * const { messages } = session.buildSessionContext();
 * await session.close();
 * ```
 */
export class SessionManager {
	private constructor();

	/**
	 * A new session. Its directory is created; its file appears with the first assistant message.
	 * @param cwd working directory, stored in the header
	 * @param sessionDir default: the project's directory below the agent's sessions
	 * @throws `EACCES` and the like if the directory cannot be made
	 */
	static create(cwd: string, sessionDir?: string | null, storage?: SessionStorage | null): SessionManager;

	/**
	 * Opens a session file. A missing or blank one becomes a new session at that path at once.
	 * @param sessionDir where new sessions of this manager go; default: the file's directory
	 * @throws `ERR_SESSION_CORRUPT` if the file is no session; it is left as it is
	 */
	static open(path: string, sessionDir?: string | null, storage?: SessionStorage | null): Promise<SessionManager>;

	/**
	 * Continues this terminal's last session in `cwd`, else the most recent one, else starts a new one.
	 * @throws `ERR_SESSION_CORRUPT` if what is to be continued is no session
	 */
	static continueRecent(
		cwd: string,
		sessionDir?: string | null,
		storage?: SessionStorage | null,
	): Promise<SessionManager>;

	/**
	 * A session without a file.
	 * @param cwd default: `process.cwd()`
	 */
	static inMemory(cwd?: string | null, storage?: SessionStorage | null): SessionManager;

	/**
	 * A new session in `cwd` with the history of the file at `sourcePath`.
	 * @throws `ENOENT` if there is no such file, `ERR_SESSION_CORRUPT` if it is no session
	 */
	static forkFrom(
		sourcePath: string,
		cwd: string,
		sessionDir?: string | null,
		storage?: SessionStorage | null,
	): Promise<SessionManager>;

	/**
	 * Sessions of a project, the most recently changed first. Creates nothing; files that are no sessions
	 * or may not be read are passed over.
	 * @param sessionDir default: every directory that agents have used for `cwd`
	 */
	static list(cwd: string, sessionDir?: string | null, storage?: SessionStorage | null): Promise<SessionInfo[]>;

	/** Sessions of all projects, the most recently changed first. */
	static listAll(storage?: SessionStorage | null): Promise<SessionInfo[]>;

	/** The directory for sessions of a project; it is created. */
	static getDefaultSessionDir(cwd: string, agentDir?: string | null, storage?: SessionStorage | null): string;

	/**
	 * What is wrong with a file. Changes nothing.
	 * @throws `ENOENT` and the like
	 */
	static verify(path: string): Promise<Verification>;

	/**
	 * Makes of a damaged file one that every agent can open: keeps every entry that can be read, makes a
	 * header, hangs entries without a parent on the entry before them. The original is kept as
	 * `<name>.bak-<time>`. Never runs by itself.
	 * @throws `ERR_SESSION_CORRUPT` if there is nothing in the file to keep
	 */
	static repair(path: string, options?: { dryRun?: boolean | null } | null): Promise<RepairResult>;

	getCwd(): string;
	/** Empty for a session in memory. */
	getSessionDir(): string;
	getSessionId(): string;
	/** Path of the file, also before it exists; `undefined` for a session in memory. */
	getSessionFile(): string | undefined;
	getSessionName(): string | undefined;
	/** Whether the session is stored, or will be. */
	isPersisted(): boolean;
	/** The session's own object; what is changed in it is written by the next rewrite. */
	getHeader(): SessionHeader | null;
	/** A snapshot. */
	getUsageStatistics(): UsageStatistics;
	/** What reading the file showed: lines that were skipped, a torn tail. */
	getLoadReport(): LoadReport;

	/**
	 * Adds a message; the object becomes the entry's `message`.
	 *
	 * This and the other `append` methods return the new entry's id. In a session with a file the line
	 * is with the kernel when the call returns. They throw a `TypeError` for what JSON cannot hold
	 * (nothing changes then), and the system's error or `ERR_SESSION_LOCKED` with `entryId` if the
	 * line could not be written: the entry stays, and the next append, flush or close writes it.
	 */
	appendMessage(
		message: Message | CustomMessage | HookMessage | BashExecutionMessage | PythonExecutionMessage | FileMentionMessage,
	): string;
	/** @param thinkingLevel such as `"high"`; without one `null` is stored */
	appendThinkingLevelChange(thinkingLevel?: string | null): string;
	/** @param serviceTier `null`: none */
	appendServiceTierChange(serviceTier: ServiceTier | null): string;
	/** @param mode `"none"` when a mode ends */
	appendModeChange(mode: string, data?: Record<string, unknown>): string;
	/**
	 * @param model `provider/modelId`
	 * @param role left out: the entry counts for the role `"default"`
	 */
	appendModelChange(model: string, role?: string | null): string;
	/** What a subagent starts with. An envelope in `init` (`type`, `id` …) is ignored. */
	appendSessionInit(init: { systemPrompt: string; task: string; tools: string[]; outputSchema?: unknown }): string;
	/**
	 * From here on a context has the summary in place of what was before `firstKeptEntryId`.
	 * @param shortSummary for lists and the terminal's title
	 * @param firstKeptEntryId an unknown id keeps nothing before the compaction
	 * @param details data of whoever made it
	 * @param preserveData data that later compactions take over
	 */
	appendCompaction<T = unknown>(
		summary: string,
		shortSummary: string | undefined | null,
		firstKeptEntryId: string,
		tokensBefore: number,
		details?: T,
		fromExtension?: boolean | null,
		preserveData?: Record<string, unknown>,
	): string;
	/** State of an extension, not part of the context. */
	appendCustomEntry(customType: string, data?: unknown): string;
	/**
	 * A message of an extension, part of the context.
	 * @param display whether it is shown to the user
	 * @param details not sent to the model
	 * @param attribution default `"agent"`
	 */
	appendCustomMessageEntry<T = unknown>(
		customType: string,
		content: string | (TextContent | ImageContent)[],
		display: boolean,
		details?: T,
		attribution?: MessageAttribution | null,
	): string;
	appendMCPToolSelection(selectedToolNames: string[]): string;
	appendTtsrInjection(ruleNames: string[]): string;
	/**
	 * Sets the label of an entry; `undefined`, `null` or `""` clears it.
	 * @throws `ERR_ENTRY_NOT_FOUND`
	 */
	appendLabelChange(targetId: string, label: string | undefined | null): string;

	/** `null` before the first entry. */
	getLeafId(): string | null;
	getLeafEntry(): SessionEntry | undefined;
	/** Of entries with one id the later one. */
	getEntry(id: string): SessionEntry | undefined;
	/** All entries in file order, in a fresh array. */
	getEntries(): SessionEntry[];
	/** Children in file order; for `null` the roots. */
	getChildren(parentId: string | null): SessionEntry[];
	/** From the root to `fromId`, or to the leaf. Empty for an unknown id. */
	getBranch(fromId?: string | null): SessionEntry[];
	/** The roots in file order; an entry whose parent is missing is one. */
	getTree(): SessionTreeNode[];
	getLabel(id: string): string | undefined;
	/** `undefined` if the path has no model change. */
	getLastModelChangeRole(): string | undefined;
	/** Rules injected on the path, in order of first appearance. */
	getInjectedTtsrRules(): string[];
	/** Moves the leaf. @throws `ERR_ENTRY_NOT_FOUND` */
	branch(branchFromId: string): void;
	/**
	 * Moves the leaf and adds a summary of what is left behind.
	 * @param branchFromId `null`: before the first entry
	 * @throws `ERR_ENTRY_NOT_FOUND`
	 */
	branchWithSummary(
		branchFromId: string | null,
		summary: string,
		details?: unknown,
		fromExtension?: boolean | null,
	): string;
	/** Moves the leaf before the first entry. */
	resetLeaf(): void;

	/** What the model gets at the leaf. Messages are those of the entries, not copies. */
	buildSessionContext(): SessionContext;
	/** Takes replay data of former provider connections out of messages in memory. Returns whether there was any. */
	sanitizeLoadedOpenAIResponsesReplayMetadata(): boolean;

	/** Goes on with a new session. Resolves to the path its file will have; `undefined` in memory. */
	newSession(options?: NewSessionOptions | null): Promise<string | undefined>;
	/** Goes on with another file; see {@link SessionManager.open}. If that fails, the session stays. */
	setSessionFile(sessionFile: string): Promise<void>;
	/** `""` clears the name. */
	setSessionName(name: string): Promise<void>;
	/**
	 * Goes on in a copy of the session, with an id of its own and the old id as `parentSession`. The old
	 * file stays as it is.
	 * @returns `undefined` for a session in memory
	 */
	fork(): Promise<{ oldSessionFile: string; newSessionFile: string } | undefined>;
	/**
	 * Moves file and artifacts to the project at `newCwd`, all or nothing.
	 * @throws `EEXIST` if anything is where they would go
	 */
	moveTo(newCwd: string): Promise<void>;
	/**
	 * Goes on in a new file with the entries from the root to `leafId`, without label entries, and fresh
	 * ones for the labels in force.
	 * @returns the new file; `undefined` for a session in memory
	 * @throws `ERR_ENTRY_NOT_FOUND`
	 */
	createBranchedSession(leafId: string): string | undefined;
	/** Writes the file now, also without an assistant message. */
	ensureOnDisk(): Promise<void>;
	/**
	 * Writes entries that were changed in memory to the file; lines of the others keep their bytes.
	 *
	 * ```ts
	 * for (const entry of session.getBranch()) {
	 * 	if (entry.type === "message" && entry.message.role === "toolResult") entry.message.content = [];
	 * }
	 * await session.rewriteEntries();
	 * ```
	 * @throws a `TypeError` or `RangeError` if JSON cannot hold what was changed; the file stays as it is
	 */
	rewriteEntries(): Promise<void>;
	/**
	 * Waits for everything and makes it survive a power loss.
	 * @throws what keeps it from being written: the system's error, `ERR_SESSION_LOCKED`, `ERR_SESSION_CONFLICT`
	 */
	flush(): Promise<void>;
	/** Flushes and lets go of the file. The manager stays usable. @throws like `flush` */
	close(): Promise<void>;
	/** Takes in what other processes appended. Resolves to the number of entries. */
	refresh(): Promise<number>;
	/** Remembers the session, for {@link SessionManager.restoreState}. */
	captureState(): SessionManagerStateSnapshot;
	/** Goes back to a remembered session, with the leaf on its last entry. */
	restoreState(snapshot: SessionManagerStateSnapshot): void;

	/** Folder of the session's artifacts; `null` for a session in memory. */
	getArtifactsDir(): string | null;
	/** A free path for an artifact; `{}` for a session in memory. */
	allocateArtifactPath(toolType: string): Promise<{ id?: string; path?: string }>;
	/** Resolves to the artifact's id. */
	saveArtifact(content: string, toolType: string): Promise<string | undefined>;
	/** `null` if there is no such artifact. */
	getArtifactPath(id: string): Promise<string | null>;
	/** Stores bytes in the blob store. */
	putBlob(data: Uint8Array): Promise<BlobPutResult>;
}

/**
 * The context of any entries. `leafId === null` gives an empty one; `undefined` or an unknown id means
 * the last entry. A given `byId` decides which entry an id means.
 */
export function buildSessionContext(
	entries: SessionEntry[],
	leafId?: string | null,
	byId?: Map<string, SessionEntry>,
): SessionContext;

/** The objects in a text of JSON lines; what cannot be read is left out. */
export function parseSessionEntries(content: string): FileEntry[];

/** Brings entries of version 1 or 2 to version 3, in place. */
export function migrateSessionEntries(entries: FileEntry[]): void;

export function getLatestCompactionEntry(entries: SessionEntry[]): CompactionEntry | null;

/** Header and entries as they are stored; empty for a file that is missing or has no header. */
export function loadEntriesFromFile(filePath: string, storage?: SessionStorage | null): Promise<FileEntry[]>;

/** Path of the most recently changed session in a directory. */
export function findMostRecentSession(sessionDir: string, storage?: SessionStorage | null): Promise<string | null>;

/** @param limit default 3 */
export function getRecentSessions(
	sessionDir: string,
	limit?: number | null,
	storage?: SessionStorage | null,
): Promise<RecentSessionInfo[]>;

/**
 * The session whose id, file name, or part of the file name after its last `_` begins with
 * `sessionArg`, whatever the case; first among those of `cwd`, then among all.
 * @throws `ERR_AMBIGUOUS_SESSION`
 */
export function resolveResumableSession(
	sessionArg: string,
	cwd: string,
	sessionDir?: string | null,
	storage?: SessionStorage | null,
): Promise<ResolvedSessionMatch | undefined>;

/** The agent's directory, from the environment as it is now. */
export function getAgentDir(): string;
export function getSessionsDir(agentDir?: string | null): string;
export function getBlobsDir(agentDir?: string | null): string;
