import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, entry, HEADER, messageLine, text, toolResult, user } from "./support/lines.mjs";
import { freshPlaces, write } from "./support/place.mjs";

freshPlaces();

describe("usage", () => {
	test("sums over replies and task results, counting a repeated line once", async () => {
		const reply = messageLine(2, assistant("two"));
		const task = messageLine(
			3,
			toolResult("x", { toolName: "task", details: { usage: { input: 100, cost: { total: 2 } } } }),
		);
		const other = messageLine(4, toolResult("x", { toolName: "bash", details: { usage: { input: 1000 } } }));
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, reply, task, other, reply)));
		const expected = { input: 110, output: 5, cacheRead: 2, cacheWrite: 1, premiumRequests: 0, cost: 2.5 };
		assert.deepEqual(session.getUsageStatistics(), expected);
		session.appendMessage(assistant("more", { usage: { premiumRequests: 2 } }));
		assert.deepEqual(session.getUsageStatistics(), { ...expected, premiumRequests: 2 });
	});

	test("is of all branches, a fresh object each time, and 0 for what a message does not say", () => {
		const session = SessionManager.inMemory("/srv/garden");
		const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, premiumRequests: 0, cost: 0 };
		assert.deepEqual(session.getUsageStatistics(), nothing);
		const question = session.appendMessage(user("question"));
		session.appendMessage(assistant("one"));
		session.branch(question);
		session.appendMessage(assistant("two"));
		for (const usage of [undefined, null, {}, { input: "7", cost: 3 }, { input: null, cost: { total: null } }]) {
			session.appendMessage(assistant("odd", { usage }));
		}
		const usage = session.getUsageStatistics();
		assert.deepEqual(usage, { input: 20, output: 10, cacheRead: 4, cacheWrite: 2, premiumRequests: 0, cost: 1 });
		usage.input = 1000;
		assert.equal(session.getUsageStatistics().input, 20);
	});

	test("counts a line once that repeats any earlier one, and lines that share only the id each", async () => {
		const reply = (input) => messageLine(1, assistant("x", { usage: { input } }));
		const lines = [reply(1), reply(2), reply(1), reply(2)];
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
		assert.equal(session.getUsageStatistics().input, 3);
	});

	test("is of messages only, not of what another type of entry holds", async () => {
		const draft = entry(2, "draft", { message: assistant("draft") });
		const task = toolResult("x", { toolName: "task", details: { usage: { input: 100 } } });
		const lines = [messageLine(1, assistant("one")), draft, entry(3, "draft", { message: task })];
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
		assert.equal(session.getUsageStatistics().input, 10);
		session.createBranchedSession(lines[2].id);
		assert.equal(session.getUsageStatistics().input, 10);
	});

	test("stays finite, whatever the messages say", () => {
		const session = SessionManager.inMemory("/srv/garden");
		for (const input of [1e308, 1e308, 1e308]) {
			session.appendMessage(assistant("much", { usage: { input, output: -input, cost: { total: input } } }));
		}
		const { input, output, cost } = session.getUsageStatistics();
		assert.deepEqual([input, output, cost], [Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_VALUE]);
	});
});
