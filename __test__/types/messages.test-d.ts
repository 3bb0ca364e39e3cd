/** Messages are told apart by `role`, blocks of content by `type`. */
import type {
	AgentMessage,
	AssistantMessage,
	ImageContent,
	SessionMessageEntry,
	TextContent,
	ThinkingContent,
	ThinkingLevel,
	ToolCall,
	ToolResultMessage,
	Usage,
	UserMessage,
} from "omp-session";

function textOf(content: string | (TextContent | ImageContent)[]): string {
	return typeof content === "string"
		? content
		: content.map((block) => (block.type === "text" ? block.text : block.mimeType)).join("");
}

export function show(message: AgentMessage): string {
	switch (message.role) {
		case "user":
		case "developer":
			return textOf(message.content);
		case "assistant":
			return message.content.map(showBlock).join("");
		case "toolResult":
			return `${message.toolName} ${message.toolCallId} ${message.isError} ${textOf(message.content)}`;
		case "bashExecution":
			return `${message.command} ${message.output} ${message.exitCode ?? "?"} ${message.cancelled} ${message.truncated}`;
		case "pythonExecution":
			return `${message.code} ${message.output}`;
		case "custom":
		case "hookMessage":
			return `${message.customType} ${message.display} ${textOf(message.content)}`;
		case "branchSummary":
			return `${message.fromId} ${message.summary}`;
		case "compactionSummary":
			return `${message.tokensBefore.toFixed()} ${message.shortSummary ?? message.summary}`;
		case "fileMention":
			return message.files.map((file) => `${file.path} ${file.lineCount ?? 0} ${file.skippedReason ?? ""}`).join();
		default: {
			const nothing: never = message;
			return nothing;
		}
	}
}

function showBlock(block: AssistantMessage["content"][number]): string {
	switch (block.type) {
		case "text":
			return block.text;
		case "thinking":
			return block.thinking;
		case "redactedThinking":
			return block.data;
		case "toolCall":
			return `${block.name} ${block.id} ${JSON.stringify(block.arguments)}`;
		default: {
			const nothing: never = block;
			return nothing;
		}
	}
}

export const thinking: ThinkingContent = { type: "thinking", thinking: "t", thinkingSignature: "s" };
export const call: ToolCall = { type: "toolCall", id: "call_1", name: "bash", arguments: { command: "ls" } };
export const usage: Usage = {
	input: 1,
	output: 1,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 2,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
export const result: ToolResultMessage<{ lines: number }> = {
	role: "toolResult",
	toolCallId: "call_1",
	toolName: "bash",
	content: [],
	details: { lines: 1 },
	isError: false,
	timestamp: 0,
};
export const levels: ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];

declare const entry: SessionMessageEntry;
export const anyone: AgentMessage = entry.message;
// @ts-expect-error a message of an entry may have any role
export const onlyUser: UserMessage = entry.message;
// @ts-expect-error an image has data and a type
export const image: ImageContent = { type: "image" };
// @ts-expect-error a reply needs a reason why it stopped that is known
export const stop: AssistantMessage["stopReason"] = "tired";
// @ts-expect-error an assistant's content is a list of blocks
export const content: AssistantMessage["content"] = "text";
// @ts-expect-error the level has no such name
export const level: ThinkingLevel = "extreme";
