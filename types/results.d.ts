/** What methods and functions give back. */

import type { SessionEntry } from "./entries.js";
import type { AgentMessage, ServiceTier } from "./messages.js";

/** A node of `getTree`. */
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
	/** Title, else the last compaction's short summary. */
	title?: string;
	/** The header's `parentSession`: a path or an id. */
	parentSessionPath?: string;
	/** An invalid Date if the header's time cannot be read. */
	created: Date;
	/** When the file was last written. */
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
	/** At most 40 UTF-16 units of it, the last one `…` if it was cut. */
	readonly name: string;
	/** Such as `5m ago`. */
	readonly timeAgo: string;
}

export interface ResolvedSessionMatch {
	session: SessionInfo;
	/** `"local"`: among those of the working directory, or of the directory that was given. */
	scope: "local" | "global";
}

/** Sums over all branches of a session. What a message does not say counts as 0. */
export interface UsageStatistics {
	/** Tokens, like the three that follow. */
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	premiumRequests: number;
	/** In the provider's currency. */
	cost: number;
}

/** A part of a file that is no entry; it stays in the file. */
export interface SkippedStretch {
	/** 1-based. */
	line: number;
	/** Bytes from the start of the file. */
	offset: number;
	/** Such as `not valid JSON`. */
	reason: string;
}

/** What reading a file showed. */
export interface LoadReport {
	/** `undefined` for a session in memory. */
	path: string | undefined;
	/** Lines that are not blank, with the header, without a last one that is cut off. */
	lines: number;
	entries: number;
	/** Stretches that are no entries, in file order; the first 1,000. */
	skipped: SkippedStretch[];
	/** How many there are in all. */
	skippedCount: number;
	/** Byte offset of a last line that is cut off, else `null`. */
	tornTail: number | null;
}

/** What `verify` finds. */
export interface Verification extends Omit<LoadReport, "path"> {
	path: string;
	/** Whether there is nothing to mend. Repeated ids and missing blobs, which nothing here can mend, do not count. */
	ok: boolean;
	/** What is in the way of that first, in words; absent if nothing is. */
	reason?: string;
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

/** What `repair` did, or would do. */
export interface RepairResult {
	path: string;
	dryRun: boolean;
	changed: boolean;
	/** Where the original is kept. */
	backup: string | null;
	entries: number;
	/** Stretches that cannot be read, and headers after the first; they are in the backup only. */
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

/** What `captureState` remembers. Only the named fields are for reading. */
export interface SessionManagerStateSnapshot {
	readonly sessionId: string;
	readonly sessionName: string | undefined;
	readonly sessionFile: string | undefined;
}
