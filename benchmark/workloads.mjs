/**
 * What is measured. Each workload is `async (api, data) => note`: it runs once in a fresh process. What
 * has to be there first is done in `prepare`, which is not measured.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export function assistant(text) {
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

/** Calls of a burst, each timed: median and 99th percentile in ms. */
export function burst(count, call) {
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

/** Peers write as they append, or have no call for it. */
const flush = async (session) => session.flush?.();

/** What the list of a store shows; read whole, so that nobody can leave it for later. */
function shown(infos) {
	return { count: infos.length, messages: infos.reduce((sum, info) => sum + info.messageCount, 0) };
}

const forgetLists = (data) => fs.rmSync(path.join(data.agentDir, "omp-session"), { recursive: true, force: true });

function lists(name, store) {
	return {
		[`list ${name}`]: {
			store,
			prepare: (_api, data) => forgetLists(data),
			run: async (api) => shown(await api.SessionManager.listAll()),
		},
		[`list ${name}, texts`]: {
			store,
			prepare: (_api, data) => forgetLists(data),
			run: async (api) => ({
				letters: (await api.SessionManager.listAll()).reduce((sum, info) => sum + info.allMessagesText.length, 0),
			}),
		},
		[`list ${name}, again in a new process`]: {
			store,
			// Another process has listed the store before.
			warmUp: async (api) => api.SessionManager.listAll(),
			run: async (api) => shown(await api.SessionManager.listAll()),
		},
	};
}

/** Warm calls on the chain of 100,000 entries. What `call` gives is used, or an engine leaves the call out. */
function warm(call, times, more = {}) {
	return {
		...more,
		prepare: async (api, data) => {
			const session = await api.SessionManager.open(data["chain-100k"]);
			const ids = session.getEntries().map((entry) => entry.id);
			call(session, ids);
			return { session, ids };
		},
		run: async (_api, _data, { session, ids }) => {
			let used = 0;
			for (let at = 0; at < times; at++) used += call(session, ids);
			return { used };
		},
	};
}

/** A call with each id, or with the first `count`; counts the answers. */
const withIds =
	(call, count = Number.POSITIVE_INFINITY) =>
	(session, ids) => {
		let used = 0;
		const end = Math.min(count, ids.length);
		for (let at = 0; at < end; at++) if (call(session, ids[at])) used++;
		return used;
	};

/** Open and three reads of a chain, for showing that costs grow with the entries and no faster. */
function linear(thousands) {
	return {
		[`chain of ${thousands}k: open, branch, context, tree`]: {
			own: true,
			run: async (api, data) => {
				const session = await api.SessionManager.open(data[`chain-${thousands}k`]);
				return {
					entries: session.getBranch().length,
					messages: session.buildSessionContext().messages.length,
					roots: session.getTree().length,
				};
			},
		},
	};
}

/** Appends to a session that has no file before its last one. */
const firstBurst = (count) => ({
	run: async (api, data) => {
		const session = api.SessionManager.create("/srv/garden", data.scratch);
		for (let at = 0; at < count; at++) session.appendCustomEntry("tick", at);
		session.appendMessage(assistant("done"));
		await flush(session);
		return {};
	},
});

const opened = (name) => ({
	run: async (api, data) => ({ id: (await api.SessionManager.open(data[name])).getHeader().id }),
});

export const WORKLOADS = {
	idle: { run: async () => ({}) },
	"open 1 MB": opened("small"),
	"open 10 MB": opened("medium"),
	"open 100 MB": opened("large"),
	"open 100 MB + context, compactions": {
		run: async (api, data) => {
			const session = await api.SessionManager.open(data.large);
			return { letters: touch(session.buildSessionContext().messages) };
		},
	},
	"open 100 MB + full context": {
		run: async (api, data) => {
			const session = await api.SessionManager.open(data.plain);
			return { letters: touch(session.buildSessionContext().messages) };
		},
	},
	"open 2.5 GB": { ...opened("2.5gb"), huge: true },
	...lists("200 x 0.5 MB", "store"),
	...lists("2,000 x 0.1 MB", "store-2000"),
	"append 10,000 x 2 KB + flush": {
		prepare: (api, data) => openCopy(api, data, "small"),
		run: async (_api, _data, session) => {
			const text = "x".repeat(1700);
			const times = burst(10_000, (at) => session.appendMessage(assistant(`${at} ${text}`)));
			await flush(session);
			return times;
		},
	},
	"first burst of 10,000": firstBurst(10_000),
	"first burst of 100,000": { ...firstBurst(100_000), own: true },
	"20 x getBranch, warm": warm((session) => session.getBranch().length, 20),
	"20 x buildSessionContext, warm": warm((session) => session.buildSessionContext().messages.length, 20),
	"5 x getTree, warm": warm((session) => session.getTree().length, 5),
	"20 x getEntries, warm": warm((session) => session.getEntries().length, 20),
	"500,000 x getEntry, warm": warm(
		withIds((session, id) => session.getEntry(id)),
		5,
	),
	"500,000 x getLeafId, warm": warm(
		withIds((session) => session.getLeafId()),
		5,
	),
	"500,000 x getLabel, warm": warm(
		withIds((session, id) => session.getLabel(id) === undefined),
		5,
	),
	"500,000 x getChildren, warm": warm(
		withIds((session, id) => session.getChildren(id)),
		5,
		{ own: true },
	),
	// A peer that looks through all entries for each call would take hours for more.
	"2,000 x getChildren, warm": warm(
		withIds((session, id) => session.getChildren(id), 1000),
		2,
	),
	"rename 100 MB": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (_api, _data, session) => {
			if (session.setSessionName) await session.setSessionName("A new name");
			else session.appendSessionInfo("A new name");
			return {};
		},
	},
	"fork 100 MB": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (api, data, session) => {
			if (session.fork) await session.fork();
			else api.SessionManager.forkFrom(session.getSessionFile(), "/srv/other", data.scratch);
			return {};
		},
	},
	"branch 100 MB into a file": {
		prepare: (api, data) => openCopy(api, data, "large"),
		run: async (_api, _data, session) => {
			session.createBranchedSession(session.getLeafId());
			await flush(session);
			return {};
		},
	},
	...linear(10),
	...linear(100),
	...linear(1000),
	"stall while opening 100 MB": {
		run: async (api, data) => ({ stall: await longestStall(() => api.SessionManager.open(data.large)) }),
	},
	"stall while listing 200 x 0.5 MB": {
		store: "store",
		prepare: (_api, data) => forgetLists(data),
		run: async (api) => ({ stall: await longestStall(() => api.SessionManager.listAll()) }),
	},
	"stall while opening 500 MB": {
		huge: true,
		run: async (api, data) => ({ stall: await longestStall(() => api.SessionManager.open(data["500mb"])) }),
	},
};
