/**
 * Measures side by side, every workload of every implementation in fresh processes, in turns, and
 * prints medians and ratios. `npm run bench -- [--quick] [--rounds 5] [--only open] [--save]`
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { AGENT_VERSION, installAgent } from "../scripts/agent.mjs";
import { bunBinary, ROOT } from "../scripts/platform.mjs";
import { setup } from "../scripts/setup.mjs";
import { writeChain, writeSession } from "./generate.mjs";
import { LIMITS, WORKLOADS } from "./workloads.mjs";

const options = process.argv.slice(2);
const quick = options.includes("--quick");
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);
const rounds = Number(option("--rounds", quick ? 3 : 5));
const only = option("--only", "");
const DATA = path.join(ROOT, "benchmark", "data");

function prepareData() {
	const marker = path.join(DATA, "complete-1");
	if (fs.existsSync(marker)) return;
	fs.rmSync(DATA, { recursive: true, force: true });
	console.log("generating data …");
	writeSession(path.join(DATA, "large.jsonl"), { megabytes: 100 });
	writeSession(path.join(DATA, "plain.jsonl"), { megabytes: 100, compactions: false, seed: 2 });
	writeSession(path.join(DATA, "small.jsonl"), { megabytes: 1, seed: 3 });
	writeChain(path.join(DATA, "chain.jsonl"), 100_000);
	for (let at = 0; at < 200; at++) {
		const file = path.join(DATA, "store/sessions", `--srv-p${at % 10}--`, `2026-03-04T09-00-00-000Z_${at}.jsonl`);
		writeSession(file, { megabytes: 0.5, seed: 100 + at, cwd: `/srv/p${at % 10}` });
	}
	fs.writeFileSync(marker, "");
}

const bun = bunBinary();
const own = path.join(ROOT, "index.mjs");
/** Who is measured: name, runtime, module. The agent's session manager runs under Bun only. */
const IMPLEMENTATIONS = [
	{ name: "omp-session, Node", kind: "own", runtime: process.execPath, module: own },
	{ name: "omp-session, Bun", kind: "own", runtime: bun, module: own },
];

function measure({ kind, runtime, module }, workload) {
	const args = [path.join(ROOT, "benchmark/run-one.mjs"), kind, workload, DATA, module ?? ""];
	const result = spawnSync(runtime, args, { encoding: "utf8", timeout: 600_000, maxBuffer: 1 << 26 });
	try {
		return JSON.parse(result.stdout.trim().split("\n").at(-1));
	} catch {
		return {
			failed: (result.stderr || String(result.error ?? result.signal)).trim().split("\n").slice(0, 3).join(" "),
		};
	}
}

function median(values) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)];
}

/** Medians over the rounds of `{ cpu, wall, peak, p50, p99, stall }`. */
function summarize(results) {
	const good = results.filter((result) => !result.failed);
	if (good.length === 0) return { failed: results[0].failed };
	const of = (pick) => (good.some((result) => pick(result) !== undefined) ? median(good.map(pick)) : undefined);
	return {
		cpu: of((result) => result.cpu),
		wall: of((result) => result.wall),
		peak: of((result) => result.peak),
		p50: of((result) => result.note.p50),
		p99: of((result) => result.note.p99),
		stall: of((result) => result.note.stall),
	};
}

function run(implementations, workloads) {
	const table = new Map();
	for (let round = 0; round < rounds; round++) {
		for (const workload of workloads) {
			for (const implementation of implementations) {
				const key = `${workload}\u0000${implementation.name}`;
				table.set(key, [...(table.get(key) ?? []), measure(implementation, workload)]);
			}
		}
	}
	return (workload, name) => summarize(table.get(`${workload}\u0000${name}`));
}

const number = (value, digits = 0) => (value === undefined ? "" : value.toFixed(digits));

function report(lines) {
	setup({ packages: false });
	prepareData();
	const agent = installAgent();
	const implementations = [
		...IMPLEMENTATIONS,
		{
			name: `agent ${AGENT_VERSION}, Bun`,
			kind: "agent",
			runtime: bun,
			module: path.join(agent, "src/session/session-manager.ts"),
		},
	];
	const reference = implementations.at(-1).name;
	const workloads = Object.keys(WORKLOADS).filter((name) => name.includes(only) || name === "idle");
	const result = run(implementations, workloads);
	lines.push(
		"| workload | implementation | CPU ms | ratio to the agent | wall ms | peak MB above idle | p50 / p99 ms, stall ms |",
		"| --- | --- | ---: | ---: | ---: | ---: | --- |",
	);
	for (const workload of workloads.filter((name) => name !== "idle")) {
		const base = result(workload, reference);
		for (const { name } of implementations) {
			const { cpu, wall, peak, p50, p99, stall, failed } = result(workload, name);
			const above = failed ? undefined : peak - result("idle", name).peak;
			const extra = [p50 && `${number(p50, 3)} / ${number(p99, 3)}`, stall && number(stall, 1)]
				.filter(Boolean)
				.join(" ");
			const ratio = failed || base.failed ? "" : `${number(base.cpu / cpu, 1)}x`;
			lines.push(
				`| ${workload} | ${name} | ${failed ? `fails: ${failed.slice(0, 60)}` : number(cpu)} | ${ratio} | ${number(wall)} | ${number(above)} | ${extra} |`,
			);
		}
	}
	const limits = [
		{ name: "Node", kind: "limit", runtime: process.execPath },
		{ name: "Bun", kind: "limit", runtime: bun },
	];
	const limit = run(limits, Object.keys(LIMITS));
	lines.push("", "| limit | runtime | CPU ms | wall ms | p50 / p99 ms |", "| --- | --- | ---: | ---: | --- |");
	for (const name of Object.keys(LIMITS)) {
		for (const runtime of limits) {
			const { cpu, wall, p50, p99 } = limit(name, runtime.name);
			lines.push(
				`| ${name} | ${runtime.name} | ${number(cpu)} | ${number(wall)} | ${p50 ? `${number(p50, 3)} / ${number(p99, 3)}` : ""} |`,
			);
		}
	}
}

const lines = [];
report(lines);
const bunVersion = spawnSync(bun, ["--version"], { encoding: "utf8" }).stdout.trim();
const head = [
	"# Results",
	"",
	`\`npm run bench -- ${options.filter((item) => item !== "--save").join(" ")}\`, ${new Date().toISOString().slice(0, 10)}: ${os.cpus().length} cores, ${os.cpus()[0].model}, Node ${process.versions.node}, Bun ${bunVersion}, medians of ${rounds} rounds, every run in a fresh process. Absolute times depend on the machine; the ratios are what counts.`,
	"",
];
console.log([...head, ...lines].join("\n"));
if (options.includes("--save"))
	fs.writeFileSync(path.join(ROOT, "benchmark/RESULTS.md"), `${[...head, ...lines].join("\n")}\n`);
