/**
 * Runs one workload in this process and prints `{ cpu, wall, peak, note }` (ms, ms, MB).
 * `run-one.mjs <implementation> <workload> <data folder>`
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { LIMITS, WORKLOADS } from "./workloads.mjs";

const [implementation, name, dataDir, module] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(dataDir, "scratch-"));
const data = {
	scratch,
	...Object.fromEntries(
		["large", "plain", "small", "chain"].map((file) => [file, path.join(dataDir, `${file}.jsonl`)]),
	),
};

function peakMegabytes() {
	const status = fs.existsSync("/proc/self/status") ? fs.readFileSync("/proc/self/status", "utf8") : "";
	const peak = /VmHWM:\s+(\d+)/.exec(status);
	return peak ? Number(peak[1]) / 1024 : process.resourceUsage().maxRSS / 1024;
}

const workload = WORKLOADS[name];
process.env.PI_CODING_AGENT_DIR = path.join(dataDir, workload?.store ?? "store");
const api = implementation === "limit" ? undefined : await import(module);
if (implementation === "agent") {
	const { setAgentDir } = await import(path.join(path.dirname(module), "../../../pi-utils/src/index.ts"));
	setAgentDir(process.env.PI_CODING_AGENT_DIR);
}
const prepared = await workload?.prepare?.(api, data);
const cpuBefore = process.cpuUsage();
const started = performance.now();
const note = workload ? await workload.run(api, data, prepared) : await LIMITS[name](data);
const wall = performance.now() - started;
const { user, system } = process.cpuUsage(cpuBefore);
fs.rmSync(scratch, { recursive: true, force: true });
console.log(
	JSON.stringify({ cpu: (user + system) / 1000, wall, peak: peakMegabytes(), note, cores: os.availableParallelism() }),
);
process.exit(0);
