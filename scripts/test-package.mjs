/**
 * Packs, installs and uses the packages of this platform as users do. With `--built` it takes the addon
 * that is there. `npm run test:package [-- --built]`
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { ROOT } from "./platform.mjs";
import { setup } from "./setup.mjs";

setup({ addon: !process.argv.includes("--built") });
const run = path.join(ROOT, "__test__", "package", "run.mjs");
process.exitCode = spawnSync(process.execPath, [run], { cwd: ROOT, stdio: "inherit" }).status ?? 1;
