/**
 * What is to be reached, and whether it was. A line has the workload, what of it is looked at (CPU
 * time, unless it says otherwise) and one bound:
 * `least`: at least this many times faster than `than`, which is the agent that is replaced or the best of all peers;
 * `most`: at most this many times a `limit`, or another figure of the same run (`of`);
 * `within`: at most this much, in the unit of the figure;
 * `growth`: the cost of an entry is at most this many times that in `from`, which has fewer entries.
 */
import { REFERENCE } from "./implementations.mjs";

const agent = (workload, least) => ({ workload, than: "agent", least });
const best = (workload, least) => ({ workload, than: "best", least });
const map = (workload) => ({ workload, limit: "500,000 Map look-ups", most: 2 });
const memory = (workload, within) => ({ workload, of: "above", within });
const stall = (workload) => ({ workload, of: "stall", within: 50 });
const growth = (workload, entries, from, fromEntries) => ({ workload, growth: 1.5, entries, from, fromEntries });

const LISTS = ["list 200 x 0.5 MB", "list 2,000 x 0.1 MB"];
const APPEND = "append 10,000 x 2 KB + flush";
const CHAIN = (thousands) => `chain of ${thousands}k: open, branch, context, tree`;

export const TARGETS = [
	agent("open 100 MB", 15),
	memory("open 100 MB", 60),
	agent("open 100 MB + context, compactions", 12),
	memory("open 100 MB + context, compactions", 80),
	{ workload: "open 100 MB + full context", limit: "JSON.parse of each line", most: 1.25 },
	{ workload: "open 100 MB + full context", limit: "JSON.parse of each line, and keeping it", most: 1.25 },
	{ workload: "open 100 MB + full context", of: "above", limit: "JSON.parse of each line, and keeping it", most: 1.2 },
	{ workload: "open 2.5 GB", of: "cpu", within: 4000 },
	memory("open 2.5 GB", 250),
	...LISTS.flatMap((list) => [agent(list, 5), memory(list, 60)]),
	...LISTS.map((list) => agent(`${list}, texts`, 3.5)),
	...LISTS.map((list) => agent(`${list}, again in a new process`, 50)),
	agent(APPEND, 1.8),
	best(APPEND, 1),
	{ workload: APPEND, of: "p50", limit: "JSON.stringify + one write, 10,000 x 2 KB", most: 1.5 },
	{ workload: APPEND, of: "p99", limit: "p50", most: 5 },
	growth("first burst of 100,000", 100_000, "first burst of 10,000", 10_000),
	best("20 x getBranch, warm", 10),
	best("20 x buildSessionContext, warm", 10),
	best("5 x getTree, warm", 3),
	{ workload: "20 x getEntries, warm", limit: "20 array copies of 100,000", most: 1.5 },
	...["getEntry", "getLeafId", "getChildren", "getLabel"].map((call) => map(`500,000 x ${call}, warm`)),
	...["rename 100 MB", "fork 100 MB", "branch 100 MB into a file"].flatMap((rewrite) => [
		agent(rewrite, 10),
		memory(rewrite, 60),
	]),
	growth(CHAIN(100), 100_000, CHAIN(10), 10_000),
	growth(CHAIN(1000), 1_000_000, CHAIN(100), 100_000),
	stall("stall while opening 100 MB"),
	stall("stall while listing 200 x 0.5 MB"),
	stall("stall while opening 500 MB"),
];

const UNITS = { cpu: "ms CPU", above: "MB", stall: "ms" };

/** What a figure is compared with, by name, and its value. */
function base(target, of, name, results) {
	if (target.than) {
		const peers = target.than === "agent" ? [REFERENCE] : results.peers;
		const others = peers.map((peer) => results.workload(target.workload, peer)?.[of]);
		return Math.min(...others.filter((figure) => figure !== undefined));
	}
	if (target.from) return results.workload(target.from, name)?.[of] / target.fromEntries;
	if (target.limit === "p50") return results.workload(target.workload, name).p50;
	return results.limit(target.limit, name.endsWith("Bun") ? "Bun" : "Node")?.[of];
}

function compare(target, name, results) {
	const of = target.of ?? "cpu";
	const figure = results.workload(target.workload, name)?.[of];
	if (figure === undefined) return "";
	const said = (text, reached) => `${text} ${reached ? "reached" : "missed"}`;
	if (target.within) return said(`${figure.toFixed(of === "stall" ? 1 : 0)} ${UNITS[of]}`, figure <= target.within);
	const other = base(target, of, name, results);
	if (!Number.isFinite(other)) return "";
	const ratio = target.least ? other / figure : figure / (target.entries ?? 1) / other;
	const most = target.most ?? target.growth;
	return said(`${ratio.toFixed(ratio < 10 ? 2 : 0)}x`, target.least ? ratio >= target.least : ratio <= most);
}

function bound(target) {
	if (target.within) return ["", `at most ${target.within} ${UNITS[target.of]}`];
	if (target.growth) return [`per entry, ${target.from}`, `at most ${target.growth}x of it`];
	if (target.limit) return [target.limit === "p50" ? "its p50" : target.limit, `at most ${target.most}x of it`];
	const ahead = target.least === 1 ? "not slower" : `at least ${target.least}x faster`;
	return [target.than === "agent" ? REFERENCE : "the best peer", ahead];
}

const FIGURES = { above: "memory", p50: "p50", p99: "p99", stall: "" };

/** The lines as a table, for each of our runtimes; what was not measured is left out. */
export function targetTable(names, results) {
	const lines = [
		`| workload | compared with | target | ${names.join(" | ")} |`,
		`| --- | --- | ---: | ${names.map(() => "---:").join(" | ")} |`,
	];
	for (const target of TARGETS) {
		const cells = names.map((name) => compare(target, name, results));
		if (cells.every((cell) => cell === "")) continue;
		const figure = FIGURES[target.of];
		const workload = figure ? `${target.workload}, ${figure}` : target.workload;
		lines.push(`| ${workload} | ${bound(target).join(" | ")} | ${cells.join(" | ")} |`);
	}
	return lines;
}
