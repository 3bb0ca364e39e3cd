/**
 * What is to be reached. Each line: the workload, what it is compared with, and the least ratio or
 * the most of something. `result(workload, name)` gives medians.
 */
import { REFERENCE } from "./implementations.mjs";

/** `agent`: the agent that is replaced; `best`: the best of all peers; `limit`: a line of the limits in the same runtime. */
export const TARGETS = [
	{ workload: "open 100 MB", than: "agent", least: 15 },
	{ workload: "open 100 MB + context, compactions", than: "agent", least: 12 },
	{ workload: "open 100 MB + full context", than: "limit", limit: "JSON.parse of each line", most: 1.25 },
	{ workload: "list 200 x 0.5 MB", than: "agent", least: 5 },
	{ workload: "list 2,000 x 0.1 MB", than: "agent", least: 5 },
	{ workload: "list 200 x 0.5 MB, texts", than: "agent", least: 3.5 },
	{ workload: "list 2,000 x 0.1 MB, texts", than: "agent", least: 3.5 },
	{ workload: "list 200 x 0.5 MB, again in a new process", than: "agent", least: 50 },
	{ workload: "list 2,000 x 0.1 MB, again in a new process", than: "agent", least: 50 },
	{ workload: "append 10,000 x 2 KB + flush", than: "agent", least: 1.8 },
	{
		workload: "append 10,000 x 2 KB + flush",
		than: "limit",
		limit: "JSON.stringify + one write, 10,000 x 2 KB",
		of: "p50",
		most: 1.5,
	},
	{ workload: "20 x getBranch, warm", than: "best", least: 10 },
	{ workload: "20 x buildSessionContext, warm", than: "best", least: 10 },
	{ workload: "5 x getTree, warm", than: "best", least: 3 },
	{ workload: "20 x getEntries, warm", than: "limit", limit: "20 array copies of 100,000", most: 1.5 },
	{ workload: "500,000 x getEntry, warm", than: "limit", limit: "500,000 Map look-ups", most: 2 },
	{ workload: "500,000 x getLeafId, warm", than: "limit", limit: "500,000 Map look-ups", most: 2 },
	{ workload: "500,000 x getLabel, warm", than: "limit", limit: "500,000 Map look-ups", most: 2 },
	{ workload: "rename 100 MB", than: "agent", least: 10 },
	{ workload: "fork 100 MB", than: "agent", least: 10 },
	{ workload: "branch 100 MB into a file", than: "agent", least: 10 },
];

function comparison(target, name, results) {
	const own = results.workload(target.workload, name);
	const of = target.of ?? "cpu";
	if (own === undefined || own.failed) return undefined;
	if (target.than === "limit") {
		const limit = results.limit(target.limit, name.endsWith("Bun") ? "Bun" : "Node");
		return limit && own[of] / limit[of];
	}
	const peers = target.than === "agent" ? [REFERENCE] : results.peers;
	const others = peers.map((peer) => results.workload(target.workload, peer)).filter((peer) => peer && !peer.failed);
	return others.length > 0 ? Math.min(...others.map((peer) => peer[of])) / own[of] : undefined;
}

/** The lines as a table, for each of our runtimes. */
export function targetTable(names, results) {
	const lines = [
		`| workload | compared with | target | ${names.join(" | ")} |`,
		`| --- | --- | ---: | ${names.map(() => "---:").join(" | ")} |`,
	];
	for (const target of TARGETS) {
		const cells = names.map((name) => {
			const ratio = comparison(target, name, results);
			if (ratio === undefined) return "";
			const reached = target.least ? ratio >= target.least : ratio <= target.most;
			return `${ratio.toFixed(ratio < 10 ? 2 : 0)}x ${reached ? "reached" : "missed"}`;
		});
		if (cells.every((cell) => cell === "")) continue;
		const than = { agent: REFERENCE, best: "the best peer", limit: target.limit }[target.than];
		const bound = target.least ? `at least ${target.least}x faster` : `at most ${target.most}x of it`;
		lines.push(
			`| ${target.workload}${target.of ? `, ${target.of}` : ""} | ${than} | ${bound} | ${cells.join(" | ")} |`,
		);
	}
	return lines;
}
