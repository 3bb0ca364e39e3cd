/**
 * Runs one workload in this process and prints `{ cpu, wall, peak, note }` (ms, ms, MB).
 * `run-one.mjs <implementation> <workload> <data folder> <module> [--warm-up]`
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { clock, LIMITS } from "./limits.mjs";
import { WORKLOADS } from "./workloads.mjs";

const [implementation, name, dataDir, module, warmUp] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(dataDir, "scratch-"));
const workload = WORKLOADS[name];
// What somebody writes below the agent directory must not come into a store that is listed.
const agentDir = workload?.store ? path.join(dataDir, workload.store) : path.join(scratch, "agent");
const files = fs.readdirSync(dataDir).filter((file) => file.endsWith(".jsonl"));
const data = {
	scratch,
	agentDir,
	...Object.fromEntries(files.map((file) => [path.basename(file, ".jsonl"), path.join(dataDir, file)])),
};

function peakMegabytes() {
	const status = fs.existsSync("/proc/self/status") ? fs.readFileSync("/proc/self/status", "utf8") : "";
	const peak = /VmHWM:\s+(\d+)/.exec(status);
	return peak ? Number(peak[1]) / 1024 : process.resourceUsage().maxRSS / 1024;
}

process.env.PI_CODING_AGENT_DIR = agentDir;
const api = implementation === "limit" ? undefined : await import(module);
if (implementation === "agent") {
	const { setAgentDir } = await import(path.join(path.dirname(module), "../../../pi-utils/src/index.ts"));
	setAgentDir(agentDir);
}
if (warmUp) {
	await workload.warmUp(api, data);
	fs.rmSync(scratch, { recursive: true, force: true });
	process.exit(0);
}
const prepared = await workload?.prepare?.(api, data);
clock.cpu = process.cpuUsage();
clock.wall = performance.now();
const note = workload ? await workload.run(api, data, prepared) : await LIMITS[name](data);
const wall = performance.now() - clock.wall;
const { user, system } = process.cpuUsage(clock.cpu);
fs.rmSync(scratch, { recursive: true, force: true });
console.log(
	JSON.stringify({ cpu: (user + system) / 1000, wall, peak: peakMegabytes(), note, cores: os.availableParallelism() }),
);
process.exit(0);
