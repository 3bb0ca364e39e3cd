/**
 * Runs the whole agent on this package and on its own session manager and compares.
 * `npm run parity:agent`
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { installAgent } from "./agent.mjs";
import { bunBinary, ROOT } from "./platform.mjs";
import { setup } from "./setup.mjs";

setup();
const run = path.join(ROOT, "__test__", "parity", "agent", "run.mjs");
const result = spawnSync(process.execPath, [run, installAgent(), bunBinary()], { cwd: ROOT, stdio: "inherit" });
process.exitCode = result.status ?? 1;
