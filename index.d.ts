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
	AgentMessage,
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
import type { SessionStorage } from "./types/storage.js";

export * from "./types/entries.js";
export * from "./types/messages.js";
export * from "./types/storage.js";

/** The version of the format that is written. */
export const CURRENT_SESSION_VERSION: 3;

/**
 * Codes of this package's errors. Failures of the system keep its own: `ENOENT`, `ENOSPC`, `EACCES` …
 *
 * - `ERR_ENTRY_NOT_FOUND`: no entry has the id; nothing changed
 * - `ERR_SESSION_CORRUPT`: the file is no session; it was left as it is (`line`, `offset` say where)
 * - `ERR_SESSION_CONFLICT`: a file is where none may be, or another one than before
 * - `ERR_SESSION_LOCKED`: another process kept its lock for 5 s; nothing is lost
 * - `ERR_AMBIGUOUS_SESSION`: the beginning of an id fits several sessions (`candidates`)
 * - `ERR_INVALID_ARGUMENT`: a value of the wrong type
 */
export type SessionErrorCode =
	| "ERR_ENTRY_NOT_FOUND"
	| "ERR_SESSION_CORRUPT"
	| "ERR_SESSION_CONFLICT"
	| "ERR_SESSION_LOCKED"
	| "ERR_AMBIGUOUS_SESSION"
	| "ERR_INVALID_ARGUMENT";

/** The shape of the errors. */
export interface SessionError extends Error {
	code: SessionErrorCode | (string & {});
	/** The file concerned. */
	path?: string;
	/** The system call that failed. */
	syscall?: string;
	/** 1-based line of a corrupt file. */
	line?: number;
	/** Byte offset of that line. */
	offset?: number;
	/** The entry that an append added but could not write: it is written later, do not append it again. */
	entryId?: string;
	/** Sessions that an ambiguous argument fits. */
	candidates?: { id: string; path: string }[];
}

export interface NewSessionOptions {
	/** Stored in the header as it is. */
	parentSession?: string;
}

/** A node of {@link SessionManager.getTree}. */
export interface SessionTreeNode {
	entry: SessionEntry;
	/** By time; entries with an unreadable time keep their place in the file. */
	children: SessionTreeNode[];
	/** The label in force. */
	label?: string;
}

/** What the model gets. */
export interface SessionContext {
	messages: AgentMessage[];
	/** `"off"` if none was set. */
	thinkingLevel?: string;
	serviceTier?: ServiceTier;
	/** `provider/modelId` by role. */
	models: Record<string, string>;
	injectedTtsrRules: string[];
	selectedMCPToolNames: string[];
	/** Whether the path has an entry that selects tools. */
	hasPersistedMCPToolSelection: boolean;
	/** `"none"` outside of modes. */
	mode: string;
	modeData?: Record<string, unknown>;
}

/** A session in a list. Counts and texts are those of the whole file. */
export interface SessionInfo {
	path: string;
	id: string;
	/** Empty for files that name none. */
	cwd: string;
	title?: string;
	/** Path or id of the parent session, as the header has it. */
	parentSessionPath?: string;
	/** An invalid Date if the header's time cannot be read. */
	created: Date;
	modified: Date;
	messageCount: number;
	/** `"(no messages)"` if there is no user message with text. */
	firstMessage: string;
	/** Text of all user and assistant messages, joined by spaces; read from the file when asked for. */
	allMessagesText: string;
}

/** A session for a short list. */
export interface RecentSessionInfo {
	readonly path: string;
	/** Milliseconds since 1970. */
	readonly mtime: number;
	/** Title, else the first user message, else the id; one line. */
	readonly fullName: string;
	/** At most 40 characters of it. */
	readonly name: string;
	/** Such as `5m ago`. */
	readonly timeAgo: string;
}

export interface ResolvedSessionMatch {
	session: SessionInfo;
	scope: "local" | "global";
}

/** Sums over the messages of a session. What a message does not say counts as 0. */
export interface UsageStatistics {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	premiumRequests: number;
	cost: number;
}

/** What reading a file showed. */
export interface LoadReport {
	path: string | undefined;
	/** Lines that are not blank, with the header. */
	lines: number;
	entries: number;
	/** Stretches that are no entries, in file order; the first 1,000. */
	skipped: { line: number; offset: number; reason: string }[];
	/** How many there are in all. */
	skippedCount: number;
	/** Byte offset of a last line that is cut off, else `null`. */
	tornTail: number | null;
}

/** What {@link SessionManager.verify} finds. */
export interface Verification extends Omit<LoadReport, "path"> {
	path: string;
	/** Whether every agent can open the file and sees everything in it. */
	ok: boolean;
	/** Bytes. */
	size: number;
	hasHeader: boolean;
	/** 0 without a header. */
	version: number;
	/** Ids of entries whose parent does not exist; like the lists below, the first 1,000. */
	orphans: string[];
	/** Ids of entries whose parents lead in a circle; the first in the file of each circle. */
	cycles: string[];
	duplicateIds: string[];
	/** Hashes. */
	missingBlobs: string[];
}

/** What {@link SessionManager.repair} did, or would do. */
export interface RepairResult {
	path: string;
	dryRun: boolean;
	changed: boolean;
	/** Where the original is kept. */
	backup: string | null;
	entries: number;
	/** Stretches that could not be read; they are in the backup only. */
	leftOut: number;
	/** Entries that hang on the entry before them now. */
	reconnected: number;
	newHeader: boolean;
}

/** A blob that was stored. */
export interface BlobPutResult {
	/** SHA-256, 64 hex digits. */
	hash: string;
	path: string;
	/** `blob:sha256:<hash>` */
	ref: string;
}

/** What {@link SessionManager.captureState} remembers. Only the named fields are for reading. */
export interface SessionManagerStateSnapshot {
	readonly sessionId: string;
	readonly sessionName: string | undefined;
	readonly sessionFile: string | undefined;
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

	/** Continues this terminal's last session in `cwd`, else the most recent one, else starts a new one. */
	static continueRecent(
		cwd: string,
		sessionDir?: string | null,
		storage?: SessionStorage | null,
	): Promise<SessionManager>;

	/** A session without a file. */
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

	/** Sessions of a project, the most recently changed first. Creates nothing. */
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
	/** Without a level `null` is stored. */
	appendThinkingLevelChange(thinkingLevel?: string | null): string;
	appendServiceTierChange(serviceTier: ServiceTier | null): string;
	appendModeChange(mode: string, data?: Record<string, unknown>): string;
	/** @param model `provider/modelId` */
	appendModelChange(model: string, role?: string | null): string;
	appendSessionInit(init: { systemPrompt: string; task: string; tools: string[]; outputSchema?: unknown }): string;
	appendCompaction<T = unknown>(
		summary: string,
		shortSummary: string | undefined | null,
		firstKeptEntryId: string,
		tokensBefore: number,
		details?: T,
		fromExtension?: boolean | null,
		preserveData?: Record<string, unknown>,
	): string;
	appendCustomEntry(customType: string, data?: unknown): string;
	/** @param attribution default `"agent"` */
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

	/** Goes on with a new session. Resolves to the path its file will have. */
	newSession(options?: NewSessionOptions | null): Promise<string | undefined>;
	/** Goes on with another file; see {@link SessionManager.open}. If that fails, the session stays. */
	setSessionFile(sessionFile: string): Promise<void>;
	/** `""` clears the name. */
	setSessionName(name: string): Promise<void>;
	/** Goes on in a copy of the session. `undefined` for a session in memory. */
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
	/** Writes entries that were changed in memory to the file. */
	rewriteEntries(): Promise<void>;
	/** Waits for everything and makes it survive a power loss. */
	flush(): Promise<void>;
	/** Flushes and lets go of the file. The manager stays usable. */
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
