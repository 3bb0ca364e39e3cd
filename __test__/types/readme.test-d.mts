import { SessionManager } from "omp-session";

const session = SessionManager.create(process.cwd());
const question = session.appendMessage({ role: "user", content: "Which tests fail?", timestamp: Date.now() });
// The file is there since the first answer. The agent wants all of these fields, and opens no file without usage.
session.appendMessage({
	role: "assistant",
	content: [{ type: "text", text: "None." }],
	api: "anthropic-messages",
	provider: "anthropic",
	model: "claude-sonnet-4-5",
	usage: {
		input: 12,
		output: 3,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 15,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	},
	stopReason: "stop",
	timestamp: Date.now(),
});
session.appendLabelChange(question, "start");
session.branch(question); // the next append starts another branch
session.appendMessage({ role: "user", content: "And on Bun?", timestamp: Date.now() });
const { messages, models, thinkingLevel } = session.buildSessionContext();
console.log(messages.length, models, thinkingLevel); // 2 {} off: the answer is on the other branch
await session.close(); // everything is on disk
const again = await SessionManager.continueRecent(process.cwd());
console.log(JSON.stringify(again.getTree(), null, 2));
