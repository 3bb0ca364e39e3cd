/** The lines of a session file. */

import type { AgentMessage, ImageContent, MessageAttribution, ServiceTier, TextContent } from "./messages.js";

/** First line of a file: metadata, not part of the tree. */
export interface SessionHeader {
	type: "session";
	/** Format version; absent in files of version 1. */
	version?: number;
	/** 16 lower-case hex digits for sessions made here; other agents use other forms. */
	id: string;
	title?: string;
	/** ISO 8601, UTC, with milliseconds. */
	timestamp: string;
	/** Working directory. */
	cwd: string;
	/** Where the session comes from: a path or a session id. Never interpreted. */
	parentSession?: string;
}

/** What all entries have. */
export interface SessionEntryBase {
	type: string;
	/** 8 lower-case hex digits for entries made here. */
	id: string;
	/** Id of the parent; `null` for a root. */
	parentId: string | null;
	/** ISO 8601, UTC, with milliseconds. */
	timestamp: string;
}

export interface SessionMessageEntry extends SessionEntryBase {
	type: "message";
	message: AgentMessage;
}

export interface ThinkingLevelChangeEntry extends SessionEntryBase {
	type: "thinking_level_change";
	thinkingLevel?: string | null;
}

export interface ModelChangeEntry extends SessionEntryBase {
	type: "model_change";
	/** `provider/modelId` */
	model: string;
	/** Absent for the role `"default"`. */
	role?: string;
}

export interface ServiceTierChangeEntry extends SessionEntryBase {
	type: "service_tier_change";
	serviceTier: ServiceTier | null;
}

export interface CompactionEntry<T = unknown> extends SessionEntryBase {
	type: "compaction";
	summary: string;
	/** For lists and the terminal's title. */
	shortSummary?: string;
	/** First entry before the compaction that stays in the context. */
	firstKeptEntryId: string;
	tokensBefore: number;
	details?: T;
	preserveData?: Record<string, unknown>;
	/** True if an extension made it. */
	fromExtension?: boolean;
}

export interface BranchSummaryEntry<T = unknown> extends SessionEntryBase {
	type: "branch_summary";
	/** The branch point; `"root"` for a branch before the first entry. */
	fromId: string;
	summary: string;
	details?: T;
	fromExtension?: boolean;
}

/** State of an extension. Not part of the context. */
export interface CustomEntry<T = unknown> extends SessionEntryBase {
	type: "custom";
	customType: string;
	data?: T;
}

/** A message of an extension. Part of the context. */
export interface CustomMessageEntry<T = unknown> extends SessionEntryBase {
	type: "custom_message";
	customType: string;
	content: string | (TextContent | ImageContent)[];
	details?: T;
	display: boolean;
	attribution?: MessageAttribution;
}

/** Sets or, without a label, clears the label of another entry. */
export interface LabelEntry extends SessionEntryBase {
	type: "label";
	targetId: string;
	label: string | undefined;
}

export interface TtsrInjectionEntry extends SessionEntryBase {
	type: "ttsr_injection";
	injectedRules: string[];
}

export interface MCPToolSelectionEntry extends SessionEntryBase {
	type: "mcp_tool_selection";
	selectedToolNames: string[];
}

/** What a subagent started with. Not part of the context. */
export interface SessionInitEntry extends SessionEntryBase {
	type: "session_init";
	systemPrompt: string;
	task: string;
	tools: string[];
	outputSchema?: unknown;
}

export interface ModeChangeEntry extends SessionEntryBase {
	type: "mode_change";
	/** `"none"` when a mode ends. */
	mode: string;
	data?: Record<string, unknown>;
}

/** An entry of the tree, told apart by `type`. Files may also hold types that are not listed here. */
export type SessionEntry =
	| SessionMessageEntry
	| ThinkingLevelChangeEntry
	| ModelChangeEntry
	| ServiceTierChangeEntry
	| CompactionEntry
	| BranchSummaryEntry
	| CustomEntry
	| CustomMessageEntry
	| LabelEntry
	| TtsrInjectionEntry
	| MCPToolSelectionEntry
	| SessionInitEntry
	| ModeChangeEntry;

/** Header or entry. */
export type FileEntry = SessionHeader | SessionEntry;
