/**
 * Seeded call sequences over the session manager's API. A sequence is plain JSON: entries are named
 * by their position, so the same sequence can be played on any implementation.
 */

/** A small seeded generator (mulberry32). */
export function random(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

const WORDS = [
	"bean",
	"soil",
	"naïve",
	"日本",
	"rake",
	"\ud83e\uddea",
	"line\nbreak",
	'quo"te',
	"back\\slash",
	"",
	"tab\t",
];

class Maker {
	constructor(seed) {
		this.next = random(seed);
	}

	int(limit) {
		return Math.floor(this.next() * limit);
	}

	pick(list) {
		return list[this.int(list.length)];
	}

	chance(p) {
		return this.next() < p;
	}

	text() {
		return Array.from({ length: 1 + this.int(4) }, () => this.pick(WORDS)).join(" ") || "empty";
	}

	/** A value that is left out now and then. */
	maybe(make) {
		return this.chance(0.5) ? make() : undefined;
	}

	data(depth = 2) {
		const kind = this.int(depth > 0 ? 7 : 5);
		if (kind === 0) return this.text();
		if (kind === 1) return this.int(1000) / 4;
		if (kind === 2) return this.chance(0.5);
		if (kind === 3) return null;
		if (kind === 4) return -this.int(5);
		if (kind === 5) return Array.from({ length: this.int(3) }, () => this.data(depth - 1));
		return Object.fromEntries(
			Array.from({ length: this.int(3) }, () => [
				this.pick(["a", "b", "10", "2", "content", "type"]),
				this.data(depth - 1),
			]),
		);
	}

	record() {
		return Object.fromEntries(Array.from({ length: this.int(3) }, (_, at) => [`k${at}`, this.data()]));
	}

	usage() {
		const [input, output, cacheRead, cacheWrite] = [this.int(99), this.int(99), this.int(9), this.int(9)];
		return {
			input,
			output,
			cacheRead,
			cacheWrite,
			totalTokens: input + output,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: this.int(16) / 8 },
			...(this.chance(0.2) ? { premiumRequests: this.int(3) } : {}),
		};
	}

	message() {
		const timestamp = 1772615000000;
		switch (this.int(8)) {
			case 0:
			case 1:
				return {
					role: "user",
					content: this.chance(0.5) ? this.text() : [{ type: "text", text: this.text() }],
					timestamp,
				};
			case 2:
				return {
					role: "toolResult",
					toolCallId: "c1",
					toolName: this.pick(["bash", "task"]),
					content: [{ type: "text", text: this.text() }],
					isError: false,
					timestamp,
					...(this.chance(0.5) ? { details: { usage: this.usage() } } : {}),
				};
			case 3:
				return this.pick([
					{
						role: "bashExecution",
						command: "ls",
						output: this.text(),
						exitCode: 0,
						cancelled: false,
						truncated: false,
						timestamp,
					},
					{ role: "custom", customType: "note", content: this.text(), display: true, timestamp },
					{ role: "fileMention", files: [{ path: "a.txt", content: "a\nb", lineCount: 2 }], timestamp },
				]);
			default:
				return {
					role: "assistant",
					content: [
						{ type: "thinking", thinking: this.text(), ...(this.chance(0.3) ? { thinkingSignature: "sig" } : {}) },
						{ type: "text", text: this.text() },
					],
					api: "x",
					provider: this.pick(["anthropic", "openai"]),
					model: this.pick(["m1", "m2"]),
					usage: this.usage(),
					stopReason: "stop",
					timestamp,
					...(this.chance(0.1)
						? { providerPayload: { type: "openaiResponsesHistory", provider: "openai", items: [1] } }
						: {}),
				};
		}
	}

	/** Position of an entry; the player takes it modulo the number of entries. */
	entry() {
		return { entry: this.int(10_000) };
	}

	call() {
		const calls = [
			[14, () => ["appendMessage", this.message()]],
			[2, () => ["appendThinkingLevelChange", this.maybe(() => this.pick(["off", "high"]))]],
			[2, () => ["appendModelChange", this.pick(["a/b", "c/d"]), this.maybe(() => this.pick(["default", "smol"]))]],
			[1, () => ["appendServiceTierChange", this.pick(["flex", null])]],
			[2, () => ["appendModeChange", this.pick(["plan", "none"]), this.maybe(() => this.record())]],
			[
				1,
				() => [
					"appendSessionInit",
					{
						systemPrompt: this.text(),
						task: this.text(),
						tools: ["bash"],
						...(this.chance(0.5) ? { outputSchema: this.record() } : {}),
					},
				],
			],
			[
				2,
				() => [
					"appendCompaction",
					this.text(),
					this.maybe(() => this.text()),
					this.entry(),
					this.int(1000),
					this.maybe(() => this.record()),
					this.maybe(() => this.chance(0.5)),
					this.maybe(() =>
						this.chance(0.3)
							? { openaiRemoteCompaction: { provider: "openai", replacementHistory: [{ a: 1 }] } }
							: this.record(),
					),
				],
			],
			[2, () => ["appendCustomEntry", "ext", this.maybe(() => this.data())]],
			[
				2,
				() => [
					"appendCustomMessageEntry",
					"ext",
					this.chance(0.5) ? this.text() : [{ type: "text", text: this.text() }],
					this.chance(0.5),
					this.maybe(() => this.record()),
					this.maybe(() => this.pick(["user", "agent"])),
				],
			],
			[1, () => ["appendMCPToolSelection", ["t1", "t2"].slice(this.int(3))]],
			[1, () => ["appendTtsrInjection", ["r1", "r2", "r3"].slice(this.int(3))]],
			[3, () => ["appendLabelChange", this.entry(), this.pick(["x", "y", "", undefined])]],
			[1, () => ["appendLabelChange", "nothing", "z"]],
			[3, () => ["branch", this.entry()]],
			[1, () => ["branch", "nothing"]],
			[
				2,
				() => [
					"branchWithSummary",
					this.chance(0.2) ? null : this.entry(),
					this.text(),
					this.maybe(() => this.record()),
					this.maybe(() => true),
				],
			],
			[1, () => ["resetLeaf"]],
			[2, () => ["getBranch", this.maybe(() => this.entry())]],
			[2, () => ["getChildren", this.entry()]],
			[1, () => ["getLastModelChangeRole"]],
			[1, () => ["getInjectedTtsrRules"]],
			[1, () => ["setSessionName", this.pick(["Beans", "naïve ☕", "A longer name"])]],
			[1, () => ["fork"]],
			[1, () => ["createBranchedSession", this.entry()]],
			[1, () => ["newSession", this.maybe(() => ({ parentSession: "/elsewhere/p.jsonl" }))]],
			[2, () => ["flush"]],
			[1, () => ["close"]],
			[1, () => ["ensureOnDisk"]],
			[1, () => ["rewriteEntries"]],
			[2, () => ["reopen"]],
			[1, () => ["editMessage", this.entry(), this.text()]],
			[1, () => ["moveTo", this.pick(["/srv/one", "/srv/two"])]],
			[1, () => ["list"]],
			[1, () => ["listAll"]],
			[1, () => ["continueRecent"]],
			[1, () => ["forkFrom", this.pick(["/srv/one", "/srv/two"])]],
			[1, () => ["captureAndRestore", this.message()]],
			[1, () => ["saveArtifact", this.text(), "bash"]],
			[1, () => ["freeContext", this.maybe(() => this.entry())]],
			[1, () => ["resolve", this.int(12)]],
			[1, () => ["recent"]],
		];
		let at = this.next() * calls.reduce((sum, [weight]) => sum + weight, 0);
		for (const [weight, make] of calls) {
			at -= weight;
			if (at < 0) return make();
		}
		return calls[0][1]();
	}
}

/** @returns {{ seed: number, memory: boolean, calls: any[][] }} */
export function sequence(seed, length = 40) {
	const maker = new Maker(seed);
	return { seed, memory: maker.chance(0.2), calls: Array.from({ length }, () => maker.call()) };
}
