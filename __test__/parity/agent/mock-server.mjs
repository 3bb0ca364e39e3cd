/**
 * A small server that speaks enough of the OpenAI chat completions API to answer the agent. Its answers
 * depend on the request alone: a message that asks for a tool gets one call of `bash`, everything else
 * a line that repeats the last user message.
 */
import { createServer } from "node:http";

function textOf(content) {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

function answer(messages) {
	const last = messages.at(-1);
	const question = textOf(messages.findLast((message) => message.role === "user")?.content);
	if (last?.role !== "tool" && question.includes("use a tool")) {
		const call = {
			index: 0,
			id: "call_mock_1",
			type: "function",
			function: { name: "bash", arguments: JSON.stringify({ command: "echo from the tool" }) },
		};
		return { delta: { role: "assistant", content: null, tool_calls: [call] }, finish: "tool_calls" };
	}
	return { delta: { role: "assistant", content: `Answer to: ${question.trim().split("\n").at(-1)}` }, finish: "stop" };
}

function reply(response, body) {
	const request = JSON.parse(body);
	const { delta, finish } = answer(request.messages ?? []);
	const base = { id: "chatcmpl-mock", object: "chat.completion.chunk", created: 1, model: request.model };
	const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
	response.writeHead(200, { "content-type": "text/event-stream" });
	const chunks = [
		{ ...base, choices: [{ index: 0, delta, finish_reason: null }] },
		{ ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
		{ ...base, choices: [], usage },
	];
	for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
	response.end("data: [DONE]\n\n");
}

/** @returns {Promise<{ url: string, requests: any[], close(): void }>} listens on the loopback address only */
export function startServer() {
	const requests = [];
	const server = createServer((request, response) => {
		let body = "";
		request.on("data", (chunk) => {
			body += chunk;
		});
		request.on("end", () => {
			if (!request.url.endsWith("/chat/completions")) {
				response.writeHead(404).end();
				return;
			}
			requests.push(JSON.parse(body));
			reply(response, body);
		});
	});
	return new Promise((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			resolve({ url: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => server.close() });
		});
	});
}
