/**
 * Plays random call sequences on the agent's own session manager and on this one and compares.
 * `npm run parity -- [--seed 1] [--runs 2000] [--calls 40] [--record]`
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { installAgent } from "./agent.mjs";
import { bunBinary, ROOT } from "./platform.mjs";
import { setup } from "./setup.mjs";

setup();
const agent = installAgent();
const live = path.join(ROOT, "__test__", "parity", "live.mjs");
const result = spawnSync(bunBinary(), [live, agent, ...process.argv.slice(2)], { cwd: ROOT, stdio: "inherit" });
process.exitCode = result.status ?? 1;
