/** Values for entries, from a seed: mostly small, with sizes on both sides of every limit, and odd shapes. */
import { random } from "../parity/sequences.mjs";

const STRING_UNITS = 500_000;
const NOTICE_UNITS = 48;
const KEYS = [
	"content",
	"data",
	"type",
	"mimeType",
	"image_url",
	"lineCount",
	"partialJson",
	"jsonlEvents",
	"thinkingSignature",
	"thoughtSignature",
	"textSignature",
	"details",
	"text",
	"__proto__",
	"constructor",
	"toJSON",
	"7",
	"01",
	"",
	"naïve \u2028",
	"\ud83e",
];

/** Makes values with a generator of numbers of its own. */
export class Values {
	#next;

	constructor(seed) {
		this.#next = random(seed);
	}

	number(below) {
		return Math.floor(this.#next() * below);
	}

	chance(of) {
		return this.number(of) === 0;
	}

	pick(items) {
		return items[this.number(items.length)];
	}

	/** Text of a length in UTF-16 units. */
	#filled(units, fills = ["x", "line\n", "\u{1f9ea}", "é", "\ud83e", "\ud83e", "\udd8a\ud83e", '"\\', "\u0001"]) {
		const unit = this.pick(fills);
		return (this.pick(["", "a", "ab"]) + unit.repeat(Math.ceil(units / unit.length))).slice(0, units);
	}

	#small() {
		return this.pick([
			"",
			"plain",
			"two\nlines",
			"\n",
			"naïve",
			"日本",
			"\ud83e",
			"\udd8a",
			'"quoted\\',
			"\u2028\u0000",
			"image",
		]);
	}

	#longString(fills) {
		const near = this.pick([0, NOTICE_UNITS]);
		return this.#filled(STRING_UNITS - near + this.number(5) - 2 + this.pick([0, 0, 1000]), fills);
	}

	/** base64, or what looks like it. */
	#imageData() {
		const bytes = Buffer.alloc(
			this.pick([765, 766, 767, 768, 769, 770, 3000]),
			this.pick(["a", "ÿþ", "\u0000", "png"]),
		);
		const data = bytes.toString("base64");
		const spoilt = [
			data.replace(/=+$/, ""),
			`${data}=`,
			` ${data}`,
			`${data.slice(0, -2)}-_`,
			`${data}\n`,
			data.slice(0, -1),
		];
		return this.chance(3) ? this.pick(spoilt) : data;
	}

	#dataUrl() {
		const kind = this.pick(["image/png", "image/", "text/plain", "IMAGE/png"]);
		const head = `data:${kind}${this.pick([";base64,", ";base64", ",", ";charset=x;base64,"])}`;
		if (this.chance(150)) return head + this.#longString();
		const end = this.pick(["", "", "", "", "\u{1f9ea}", "\ud83e", "\udd8a"]);
		return `${head}${this.chance(3) ? this.#imageData() : "AAAA"}${end}`;
	}

	string(long = 400) {
		if (this.chance(long)) return this.#longString();
		if (this.chance(12)) return this.#imageData();
		if (this.chance(12)) return this.#dataUrl();
		return this.#small();
	}

	#scalar() {
		return this.pick([
			null,
			true,
			false,
			0,
			-0,
			1,
			1.5,
			1e21,
			2 ** 53 + 2,
			5e-324,
			Number.NaN,
			Number.POSITIVE_INFINITY,
			undefined,
			new Date(0),
			() => 1,
			Symbol.iterator,
		]);
	}

	#image() {
		const block = { type: "image", mimeType: "image/png", data: this.#imageData() };
		if (this.chance(5)) block[this.pick(["type", "mimeType", "data"])] = this.value(1);
		if (this.chance(5)) delete block[this.pick(["type", "mimeType"])];
		if (this.chance(6)) Object.assign(block, { content: "a\nb", lineCount: this.pick([9, "9"]) });
		return this.chance(4) ? { extra: this.#small(), ...block } : block;
	}

	#file() {
		const content = this.chance(20) ? this.#longString(["line\n"]) : this.string(40);
		const file = { content, lineCount: this.pick([1, 7, 0.5, "7", null]) };
		if (this.chance(3)) this.#put(file, this.pick(KEYS), this.value(1));
		return file;
	}

	/** A member that is there, whatever it is called. */
	#put(object, key, value) {
		Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
	}

	#object(depth) {
		const object = {};
		for (let left = this.number(5); left > 0; left--) {
			const key = this.pick(KEYS);
			const url = this.chance(4) ? [this.#dataUrl(), [this.#dataUrl()]] : this.#dataUrl();
			this.#put(object, key, key === "image_url" && !this.chance(3) ? url : this.value(depth - 1));
		}
		if (this.chance(20)) {
			const json = { content: [this.#image()], partialJson: 1 };
			this.#put(object, "toJSON", () => json);
		}
		return object;
	}

	#array(depth) {
		const array = Array.from({ length: this.number(4) }, () => this.value(depth - 1));
		if (this.chance(8)) array.length += 2;
		return array;
	}

	/** Any value, at most this deep. */
	value(depth) {
		if (depth <= 0 || this.chance(4)) return this.chance(3) ? this.#scalar() : this.string();
		return this.pick([
			() => this.#object(depth),
			() => this.#object(depth),
			() => this.#array(depth),
			() => this.#image(),
			() => this.#file(),
			() => ({ content: this.content(depth) }),
		])();
	}

	/** Content of a message: text, blocks, or something else. */
	content(depth) {
		if (this.chance(4)) return this.string(30);
		if (this.chance(10)) return this.value(depth - 1);
		return Array.from({ length: this.number(4) }, () =>
			this.pick([
				() => ({ type: "text", text: this.string(60), textSignature: this.chance(6) ? this.string(3) : undefined }),
				() => ({ type: "thinking", thinking: this.string(), thinkingSignature: this.string(10) }),
				() => ({ type: "toolCall", id: "c", name: "bash", arguments: this.#object(depth), partialJson: this.string() }),
				() => this.#image(),
				() => ({ type: "input_image", image_url: this.#dataUrl() }),
				() => this.value(depth - 1),
			])(),
		);
	}

	#message() {
		const content = this.content(3);
		const role = this.pick([
			"user",
			"developer",
			"assistant",
			"toolResult",
			"bashExecution",
			"pythonExecution",
			"fileMention",
			"hookMessage",
			"custom",
			"branchSummary",
			"compactionSummary",
		]);
		const message = { role, content, timestamp: 1 };
		if (role === "toolResult") Object.assign(message, { toolCallId: "c", toolName: "read", details: this.value(3) });
		if (role === "assistant") Object.assign(message, { api: "a", usage: this.value(1), stopReason: "stop" });
		if (role === "assistant" && this.chance(2)) message.providerPayload = this.#providerPayload();
		if (role === "pythonExecution") Object.assign(message, { code: this.string(), output: this.string(5) });
		if (role.endsWith("Summary")) message.summary = this.string(5);
		if (role === "bashExecution") Object.assign(message, { command: this.string(), output: this.string(5) });
		if (role === "fileMention") message.files = [this.#file(), this.#file()];
		if (this.chance(3)) message.details = this.value(3);
		return message;
	}

	#providerPayload() {
		const type = this.pick(["openaiResponsesHistory", "openaiResponsesHistory", "another"]);
		return { type, provider: "openai", items: [this.value(2)] };
	}

	/** Appends one entry of any type to a session. Returns the entry's id. */
	append(session) {
		const kinds = [
			() => session.appendMessage(this.#message()),
			() => session.appendMessage(this.#message()),
			() => session.appendMessage(this.#message()),
			() => session.appendCustomEntry(this.#small(), this.value(4)),
			() =>
				session.appendCustomMessageEntry(
					"note",
					this.chance(2) ? this.string(20) : [...this.#blocks()],
					true,
					this.value(3),
				),
			() =>
				session.appendCompaction(this.string(20), this.string(20), "00000000", 7, this.value(3), false, this.value(3)),
			() => session.branchWithSummary(session.getLeafId(), this.string(20), this.value(3)),
			() => session.appendModelChange(`p/${this.#small()}`, this.#small()),
			() => session.appendModeChange("plan", this.value(3)),
			() =>
				session.appendSessionInit({
					systemPrompt: this.string(10),
					task: this.string(),
					tools: ["read"],
					output: this.value(2),
				}),
			() => session.appendThinkingLevelChange(this.#small()),
			() => session.appendServiceTierChange(this.pick([null, "flex", "priority"])),
			() => session.appendTtsrInjection([this.#small(), this.string()]),
			() => session.appendMCPToolSelection([this.string()]),
			() => session.appendLabelChange(session.getLeafId() ?? session.appendCustomEntry("first"), this.string(20)),
		];
		return this.pick(kinds)();
	}

	*#blocks() {
		for (let left = this.number(3); left > 0; left--)
			yield this.chance(2) ? this.#image() : { type: "text", text: this.string(20) };
	}
}
