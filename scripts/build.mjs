/**
 * Builds the release addon and puts it beside index.js. Cargo itself knows what is up to date.
 * `npm run build`
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync } from "node:fs";
import path from "node:path";
import { cargoEnvironment } from "./cargo.mjs";
import { isProgram, libraryName, platformName, ROOT } from "./platform.mjs";

export function build() {
	const options = { cwd: ROOT, env: cargoEnvironment(), stdio: "inherit" };
	const cargo = spawnSync("cargo", ["build", "--release", "--locked", "--lib"], options);
	if (cargo.error) throw new Error(`cargo could not be started (${cargo.error.code}): install Rust first`);
	if (cargo.status !== 0) throw new Error("the addon could not be built, see above");
	const target = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
	const addon = path.join(ROOT, `omp-session.${platformName()}.node`);
	// A process that has the old addon loaded keeps it: the file is replaced, not overwritten.
	const temporary = `${addon}.${process.pid}.tmp`;
	copyFileSync(path.join(target, "release", libraryName()), temporary);
	renameSync(temporary, addon);
	return addon;
}

if (isProgram(import.meta.url)) {
	try {
		console.log(`built ${path.relative(ROOT, build())}`);
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
