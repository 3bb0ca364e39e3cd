/** Starts npm, which is a batch file on Windows. */
import { spawnSync } from "node:child_process";
import { ROOT } from "./platform.mjs";

/** @param {import("node:child_process").SpawnSyncOptions} [options] without `cwd` it runs in the tree */
export function npm(args, options) {
	const isWindows = process.platform === "win32";
	// A batch file needs a shell, and a shell takes paths with spaces apart.
	const given = isWindows ? args.map((part) => (/\s/.test(part) ? `"${part}"` : part)) : args;
	return spawnSync(isWindows ? "npm.cmd" : "npm", given, { cwd: ROOT, shell: isWindows, ...options });
}
