/** Messages and lines as agents write them. */

const TIME = 1733234400000;

export function user(content) {
	return { role: "user", content, timestamp: TIME };
}

export function assistant(text, extra = {}) {
	return {
		role: "assistant",
		content: [{ type: "text", text }],
		api: "anthropic-messages",
		provider: "anthropic",
		model: "claude-sonnet-4-5",
		usage: {
			input: 10,
			output: 5,
			cacheRead: 2,
			cacheWrite: 1,
			totalTokens: 18,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
		},
		stopReason: "stop",
		timestamp: TIME,
		...extra,
	};
}

export function toolResult(text, extra = {}) {
	return {
		role: "toolResult",
		toolCallId: "call_1",
		toolName: "bash",
		content: [{ type: "text", text }],
		isError: false,
		timestamp: TIME,
		...extra,
	};
}

export const HEADER = {
	type: "session",
	version: 3,
	id: "a1b2c3d4e5f60001",
	timestamp: "2024-12-03T14:00:00.000Z",
	cwd: "/srv/garden",
};

/** The time of the n-th entry. */
export function time(number) {
	return new Date(TIME + number * 1000).toISOString();
}

/** A line's object; `number` gives id and time, the parent is the entry before it. */
export function entry(number, type, fields, envelope = {}) {
	const id = number.toString(16).padStart(8, "0");
	const parentId = number > 1 ? (number - 1).toString(16).padStart(8, "0") : null;
	return { type, id, parentId, timestamp: time(number), ...envelope, ...fields };
}

export function messageLine(number, message, envelope = {}) {
	return entry(number, "message", { message }, envelope);
}

/** A file's text from objects and strings. */
export function text(...lines) {
	return lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
}

/** A small conversation: header, question, answer, question, answer. */
export function conversation() {
	return [
		HEADER,
		messageLine(1, user("one")),
		messageLine(2, assistant("two")),
		messageLine(3, user("three")),
		messageLine(4, assistant("four")),
	];
}

/** Text of messages, for short comparisons. */
export function textsOf(messages) {
	return messages.map((message) => {
		if (message.summary !== undefined) return message.summary;
		return typeof message.content === "string" ? message.content : message.content.map((block) => block.text).join("");
	});
}

export function idsOf(entries) {
	return entries.map((item) => item.id);
}

/** A header of version 1 names no version. */
const { version: _, ...headerWithoutVersion } = HEADER;
export const HEADER_1 = headerWithoutVersion;

/** A line of version 1: no id, no parent. */
export function plain(number, type, fields) {
	return { type, timestamp: time(number), ...fields };
}

/** A small session of version 1. */
export const VERSION_1 = [
	HEADER_1,
	plain(1, "message", { message: user("one") }),
	plain(2, "message", { message: assistant("two") }),
	plain(3, "compaction", { summary: "old summary", firstKeptEntryIndex: 2, tokensBefore: 5 }),
	plain(4, "message", {
		message: { role: "hookMessage", customType: "h", content: "hook", display: true, timestamp: 1 },
	}),
];

/** The context of a session without entries. */
export const EMPTY_CONTEXT = {
	messages: [],
	thinkingLevel: "off",
	serviceTier: undefined,
	models: {},
	injectedTtsrRules: [],
	selectedMCPToolNames: [],
	hasPersistedMCPToolSelection: false,
	mode: "none",
	modeData: undefined,
};
