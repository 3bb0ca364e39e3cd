/**
 * Measures side by side, every workload of every implementation in fresh processes, in turns, and
 * prints medians and ratios.
 * `npm run bench -- [--quick] [--huge] [--rounds 3] [--only open] [--save]`
 * `--quick` leaves out the peers; `--huge` adds files of 500 MB and 2.5 GB; `--save` writes RESULTS.md.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { bunBinary, ROOT } from "../scripts/platform.mjs";
import { setup } from "../scripts/setup.mjs";
import { DATA, prepareData } from "./data.mjs";
import { installPeers, LIMIT_RUNTIMES, OWN } from "./implementations.mjs";
import { LIMITS } from "./limits.mjs";
import { limitTable, OTHERWISE, workloadTable } from "./tables.mjs";
import { targetTable } from "./targets.mjs";
import { WORKLOADS } from "./workloads.mjs";

const { values: options } = parseArgs({
	options: {
		quick: { type: "boolean", default: false },
		huge: { type: "boolean", default: false },
		rounds: { type: "string" },
		only: { type: "string", default: "" },
		save: { type: "boolean", default: false },
	},
});
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));

/** Longest time for one run. */
const PATIENCE_MS = 300_000;

function runOne({ kind, runtime, module }, workload, ...more) {
	const args = [path.join(ROOT, "benchmark/run-one.mjs"), kind, workload, DATA, module ?? "", ...more];
	return spawnSync(runtime, args, { encoding: "utf8", timeout: PATIENCE_MS, maxBuffer: 1 << 26 });
}

function measure(implementation, workload) {
	if (WORKLOADS[workload]?.warmUp) runOne(implementation, workload, "--warm-up");
	const result = runOne(implementation, workload);
	try {
		return JSON.parse(result.stdout.trim().split("\n").at(-1));
	} catch {
		const reason = result.error?.code === "ETIMEDOUT" ? "takes too long" : result.stderr || String(result.signal);
		const line = reason.split("\n").find((line) => /error/i.test(line)) ?? reason.trim().split("\n")[0];
		return { failed: line.trim().slice(0, 80) };
	}
}

function median(values) {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
	return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Medians over the rounds. */
function summarize(results) {
	const good = results?.filter((result) => !result.failed) ?? [];
	if (good.length === 0) return results && { failed: results[0].failed };
	const of = (pick) => (good.some((result) => pick(result) !== undefined) ? median(good.map(pick)) : undefined);
	const { note } = good[0];
	return {
		cpu: of((result) => result.cpu),
		wall: of((result) => result.wall),
		peak: of((result) => result.peak),
		p50: of((result) => result.note.p50),
		p99: of((result) => result.note.p99),
		stall: of((result) => result.note.stall),
		note,
	};
}

/** Takes turns, so that whatever else the machine does falls on all alike. */
function run(implementations, workloads) {
	const table = new Map();
	for (let round = 0; round < rounds; round++) {
		for (const workload of workloads) {
			for (const implementation of implementations) {
				if (WORKLOADS[workload]?.own && implementation.kind !== "own") continue;
				const key = `${workload}\u0000${implementation.name}`;
				const known = table.get(key) ?? [];
				// What failed or took too long once is not tried again.
				if (known.some((result) => result.failed)) continue;
				table.set(key, [...known, measure(implementation, workload)]);
			}
			if (process.stderr.isTTY) process.stderr.write(`\r${round + 1}/${rounds} ${workload}\u001b[K`);
		}
	}
	const summary = (workload, name) => summarize(table.get(`${workload}\u0000${name}`));
	return (workload, name) => {
		const one = summary(workload, name);
		if (one === undefined || one.failed) return one;
		return { ...one, above: one.peak - (summary("idle", name)?.peak ?? 0) };
	};
}

setup({ packages: false });
prepareData(options);
const peers = options.quick ? [] : installPeers();
const implementations = [...OWN, ...peers];
const names = implementations.map(({ name }) => name);
const workloads = Object.keys(WORKLOADS)
	.filter((name) => name.includes(options.only) || name === "idle")
	.filter((name) => options.huge || !WORKLOADS[name].huge);
const result = run(implementations, workloads);
const limit = run(LIMIT_RUNTIMES, ["idle", ...Object.keys(LIMITS)]);
const bunVersion = spawnSync(bunBinary(), ["--version"], { encoding: "utf8" }).stdout.trim();
const machine = `${os.cpus().length} cores, ${os.cpus()[0].model}, Node ${process.versions.node}, Bun ${bunVersion}`;
const command = ["npm run bench --", ...process.argv.slice(2).filter((item) => item !== "--save")].join(" ");
const lines = [
	"# Results",
	"",
	`\`${command}\`, ${new Date().toISOString().slice(0, 10)}: ${machine}; medians of ${rounds} rounds, every run in a fresh process. Absolute times depend on the machine; the ratios are what counts.`,
	"",
	"## Targets",
	"",
	...targetTable(
		OWN.map(({ name }) => name),
		{ workload: result, limit, peers: peers.map(({ name }) => name) },
	),
	"",
	"## All figures",
	"",
	...workloadTable(workloads, names, result),
	"",
	...(peers.length > 0 ? [...OTHERWISE, ""] : []),
	"## Limits",
	"",
	...limitTable(limit),
];
console.log(lines.join("\n"));
if (options.save) fs.writeFileSync(path.join(ROOT, "benchmark/RESULTS.md"), `${lines.join("\n")}\n`);
