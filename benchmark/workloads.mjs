/**
 * What is measured. Each workload is `async (api, data) => note`: it runs once in a fresh process. What
 * has to be there first is done in `prepare`, which is not measured.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

function assistant(text) {
	const usage = {
		input: 10,
		output: 5,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 15,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	return {
		role: "assistant",
		content: [{ type: "text", text }],
		api: "a",
		provider: "p",
		model: "m",
		usage,
		stopReason: "stop",
		timestamp: 1,
	};
}

/** Reads every value, as a provider's request does. */
function touch(messages) {
	let count = 0;
	for (const message of messages) {
		count += message.role.length;
		if (typeof message.content === "string") count += message.content.length;
		else for (const block of message.content ?? []) count += (block.text ?? block.thinking ?? "").length;
	}
	return count;
}

const openCopy = async (api, data, name) => {
	const copy = path.join(data.scratch, "copy.jsonl");
	fs.copyFileSync(data[name], copy);
	return api.SessionManager.open(copy);
};

/** Calls of a burst, each timed: total, median and 99th percentile in ms. */
function burst(count, call) {
	const times = new Float64Array(count);
	for (let at = 0; at < count; at++) {
		const started = performance.now();
		call(at);
		times[at] = performance.now() - started;
	}
	times.sort();
	return { p50: times[Math.floor(count / 2)], p99: times[Math.floor(count * 0.99)] };
}

/** Longest time in which no timer could run while `work` ran, in ms. */
async function longestStall(work) {
	let last = performance.now();
	let longest = 0;
	const timer = setInterval(() => {
		longest = Math.max(longest, performance.now() - last);
		last = performance.now();
	}, 1);
	await sleep(20);
	longest = 0;
	await work();
	longest = Math.max(longest, performance.now() - last);
	clearInterval(timer);
	return longest;
}

export const WORKLOADS = {
	idle: { run: async () => ({}) },
	open: { run: async (api, data) => ({ entries: (await api.SessionManager.open(data.large)).getHeader().id }) },
	"open + context, compactions": {
		run: async (api, data) => {
			const session = await api.SessionManager.open(data.large);
			return { letters: touch(session.buildSessionContext().messages) };
		},
	},
	"open + full context": {
		run: async (api, data) => {
			const session = await api.SessionManager.open(data.plain);
			return { letters: touch(session.buildSessionContext().messages) };
		},
	},
	"list 200 x 0.5 MB": { run: async (api) => ({ count: (await api.SessionManager.listAll()).length }), store: "store" },
	"list 200 x 0.5 MB, texts": {
		run: async (api) => ({
			letters: (await api.SessionManager.listAll()).reduce((sum, info) => sum + info.allMessagesText.length, 0),
		}),
		store: "store",
	},
	"append 10,000 x 2 KB + flush": {
		prepare: (api, data) => openCopy(api, data, "small"),
		run: async (_api, _data, session) => {
			const text = "x".repeat(1700);
			const times = burst(10_000, (at) => session.appendMessage(assistant(`${at} ${text}`)));
			await session.flush();
			return times;
		},
	},
	"first burst of 10,000": {
		run: async (api, data) => {
			const session = api.SessionManager.create("/srv/garden", data.scratch);
			for (let at = 0; at < 10_000; at++) session.appendCustomEntry("tick", at);
			session.appendMessage(assistant("done"));
			await session.flush();
			return {};
		},
	},
	"getBranch, warm": {
		prepare: async (api, data) => {
			const session = await api.SessionManager.open(data.chain);
			session.getBranch();
			return session;
		},
		run: async (_api, _data, session) => {
			for (let at = 0; at < 20; at++) session.getBranch();
			return {};
		},
	},
	"buildSessionContext, warm": {
		prepare: async (api, data) => {
			const session = await api.SessionManager.open(data.chain);
			session.buildSessionContext();
			return session;
		},
		run: async (_api, _data, session) => {
			for (let at = 0; at < 20; at++) session.buildSessionContext();
			return {};
		},
	},
	"getTree, warm": {
		prepare: async (api, data) => {
			const session = await api.SessionManager.open(data.chain);
			session.getTree();
			return session;
		},
		run: async (_api, _data, session) => {
			for (let at = 0; at < 5; at++) session.getTree();
			return {};
		},
	},
	"look-ups, warm": {
		prepare: async (api, data) => {
			const session = await api.SessionManager.open(data.chain);
			const ids = session.getEntries().map((entry) => entry.id);
			for (const id of ids) session.getEntry(id);
			return { session, ids };
		},
		run: async (_api, _data, { session, ids }) => {
			for (let round = 0; round < 5; round++) {
				for (const id of ids) {
					session.getEntry(id);
					session.getLeafId();
					session.getLabel(id);
				}
			}
			return {};
		},
	},
	"rename 100 MB": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (_api, _data, session) => {
			await session.setSessionName("A new name");
			return {};
		},
	},
	"fork 100 MB": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (_api, _data, session) => {
			await session.fork();
			return {};
		},
	},
	"branch into a file, 100 MB": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (_api, _data, session) => {
			session.createBranchedSession(session.getLeafId());
			await session.flush();
			return {};
		},
	},
	"stall while opening": {
		run: async (api, data) => ({ stall: await longestStall(() => api.SessionManager.open(data.large)) }),
	},
};

/** The limits: what cannot be avoided, or what a plain program would do. */
export const LIMITS = {
	"read the file": async (data) => {
		const buffer = Buffer.alloc(1 << 20);
		const file = fs.openSync(data.large, "r");
		while (fs.readSync(file, buffer, 0, buffer.length, null) > 0);
		fs.closeSync(file);
		return {};
	},
	"JSON.parse of each line": async (data) => {
		const bytes = fs.readFileSync(data.plain);
		let count = 0;
		for (let from = 0; from < bytes.length; ) {
			const end = bytes.indexOf(10, from);
			count += Object.keys(JSON.parse(bytes.toString("utf8", from, end))).length;
			from = end + 1;
		}
		return { count };
	},
	"JSON.stringify + one write, 10,000 x 2 KB": async (data) => {
		const file = fs.openSync(path.join(data.scratch, "plain.jsonl"), "a");
		const text = "x".repeat(1700);
		const times = burst(10_000, (at) => {
			const line = {
				type: "message",
				id: "00000000",
				parentId: "00000000",
				timestamp: new Date().toISOString(),
				message: assistant(`${at} ${text}`),
			};
			fs.writeSync(file, `${JSON.stringify(line)}\n`);
		});
		fs.fsyncSync(file);
		return times;
	},
};
