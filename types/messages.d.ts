/** Messages and content blocks, as the agents store them. */

/** Text in a message. */
export interface TextContent {
	type: "text";
	text: string;
	/** Opaque; belongs to the provider. */
	textSignature?: string;
}

/** Reasoning of a model. */
export interface ThinkingContent {
	type: "thinking";
	thinking: string;
	/** Opaque; belongs to the provider. */
	thinkingSignature?: string;
}

/** Reasoning that the provider hands out encrypted only. */
export interface RedactedThinkingContent {
	type: "redactedThinking";
	data: string;
}

/** An image, as base64 text without a data URL prefix. */
export interface ImageContent {
	type: "image";
	data: string;
	mimeType: string;
}

/** A call of a tool by the model. */
export interface ToolCall {
	type: "toolCall";
	id: string;
	name: string;
	arguments: Record<string, any>;
	/** Opaque; belongs to the provider. */
	thoughtSignature?: string;
	/** What the call is for, in the model's words. */
	intent?: string;
}

/** Tokens and cost of one reply. */
export interface Usage {
	/** Tokens sent, without those read from the provider's cache. */
	input: number;
	/** Tokens received. */
	output: number;
	cacheRead: number;
	cacheWrite: number;
	totalTokens: number;
	premiumRequests?: number;
	/** In the provider's currency. */
	cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

/** History that a provider keeps in a form of its own. */
export interface ProviderPayload {
	type: "openaiResponsesHistory";
	provider?: string;
	/** Whether the items are to be added to an earlier history. */
	dt?: boolean;
	items: Array<Record<string, unknown>>;
}

export type MessageAttribution = "user" | "agent";

/** Service tier of a provider, as it names them. */
export type ServiceTier = "auto" | "default" | "flex" | "scale" | "priority";

/** A level of reasoning. Others than these are stored as they are. */
export type ThinkingLevel = "inherit" | "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

interface Timed {
	/** Milliseconds since 1970. */
	timestamp: number;
}

export interface UserMessage extends Timed {
	role: "user";
	content: string | (TextContent | ImageContent)[];
	attribution?: MessageAttribution;
	synthetic?: boolean;
	providerPayload?: ProviderPayload;
}

export interface DeveloperMessage extends Timed {
	role: "developer";
	content: string | (TextContent | ImageContent)[];
	attribution?: MessageAttribution;
	providerPayload?: ProviderPayload;
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface AssistantMessage extends Timed {
	role: "assistant";
	content: (TextContent | ThinkingContent | RedactedThinkingContent | ToolCall)[];
	api: string;
	provider: string;
	/** Without the provider. */
	model: string;
	/** The provider's id of the reply. */
	responseId?: string;
	/** The agent 13.19.0 opens no file with an answer that has none. */
	usage: Usage;
	stopReason: StopReason;
	errorMessage?: string;
	providerPayload?: ProviderPayload;
	/** Milliseconds that the request took. */
	duration?: number;
	/** Milliseconds to the first token. */
	ttft?: number;
}

export interface ToolResultMessage<TDetails = any> extends Timed {
	role: "toolResult";
	toolCallId: string;
	toolName: string;
	content: (TextContent | ImageContent)[];
	details?: TDetails;
	isError: boolean;
	attribution?: MessageAttribution;
	/** When the output was taken out of the context: milliseconds since 1970. */
	prunedAt?: number;
}

export interface BashExecutionMessage extends Timed {
	role: "bashExecution";
	command: string;
	output: string;
	exitCode: number | undefined;
	cancelled: boolean;
	truncated: boolean;
	meta?: any;
	excludeFromContext?: boolean;
}

export interface PythonExecutionMessage extends Timed {
	role: "pythonExecution";
	code: string;
	output: string;
	exitCode: number | undefined;
	cancelled: boolean;
	truncated: boolean;
	meta?: any;
	excludeFromContext?: boolean;
}

/** A message put in by an extension. */
export interface CustomMessage<T = unknown> extends Timed {
	role: "custom";
	customType: string;
	content: string | (TextContent | ImageContent)[];
	/** Whether it is shown to the user. */
	display: boolean;
	details?: T;
	attribution?: MessageAttribution;
}

/** What version 2 files call a custom message; it is read as one. */
export interface HookMessage<T = unknown> extends Timed {
	role: "hookMessage";
	customType: string;
	content: string | (TextContent | ImageContent)[];
	display: boolean;
	details?: T;
	attribution?: MessageAttribution;
}

/** Made from a `branch_summary` entry for the context. */
export interface BranchSummaryMessage extends Timed {
	role: "branchSummary";
	summary: string;
	/** Id of the branch point, or `"root"`. */
	fromId: string;
}

/** Made from a `compaction` entry for the context. */
export interface CompactionSummaryMessage extends Timed {
	role: "compactionSummary";
	summary: string;
	shortSummary?: string;
	tokensBefore: number;
	providerPayload?: ProviderPayload;
}

export interface FileMentionMessage extends Timed {
	role: "fileMention";
	files: Array<{
		path: string;
		content: string;
		lineCount?: number;
		/** Bytes. */
		byteSize?: number;
		skippedReason?: "tooLarge";
		image?: ImageContent;
	}>;
}

/** A message that models know. */
export type Message = UserMessage | DeveloperMessage | AssistantMessage | ToolResultMessage;

/** Any message of a session. */
export type AgentMessage =
	| Message
	| BashExecutionMessage
	| PythonExecutionMessage
	| CustomMessage
	| HookMessage
	| BranchSummaryMessage
	| CompactionSummaryMessage
	| FileMentionMessage;
