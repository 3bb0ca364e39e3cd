/**
 * Builds the release addon and puts it beside index.js. Cargo itself knows what is up to date.
 * `npm run build [-- --target <Rust triple>]`
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { cargoEnvironment } from "./cargo.mjs";
import { isProgram, ROOT } from "./platform.mjs";
import { findTarget } from "./targets.mjs";

const LIBRARIES = { linux: "libomp_session.so", darwin: "libomp_session.dylib", win32: "omp_session.dll" };

/**
 * The same sources give the same bytes wherever they lie: paths of this machine, which panic messages
 * would hold, are replaced.
 */
function compilerFlags(root, target, env) {
	const given = env.CARGO_ENCODED_RUSTFLAGS?.split("\x1f") ?? env.RUSTFLAGS?.split(" ") ?? [];
	const flags = given.filter((flag) => flag !== "");
	flags.push(`--remap-path-prefix=${env.CARGO_HOME ?? path.join(os.homedir(), ".cargo")}=/cargo`);
	flags.push(`--remap-path-prefix=${root}=/omp-session`);
	// A library that is loaded cannot bring a C library of its own.
	if (target.libc === "musl") flags.push("-Ctarget-feature=-crt-static");
	return flags.join("\x1f");
}

/** Compiles the tree at `root` and returns the path of the library. */
export function compile(root, target, cargoTargetDir) {
	const env = cargoEnvironment();
	const options = {
		cwd: root,
		env: { ...env, CARGO_TARGET_DIR: cargoTargetDir, CARGO_ENCODED_RUSTFLAGS: compilerFlags(root, target, env) },
		stdio: "inherit",
	};
	const isNative = target === findTarget();
	const triple = isNative ? [] : ["--target", target.triple];
	const cargo = spawnSync("cargo", ["build", "--release", "--locked", "--lib", ...triple], options);
	if (cargo.error) throw new Error(`cargo could not be started (${cargo.error.code}): install Rust first`);
	if (cargo.status !== 0) throw new Error("the addon could not be built, see above");
	return path.join(cargoTargetDir, isNative ? "" : target.triple, "release", LIBRARIES[target.os]);
}

/** @param {string} [triple] Rust's name of the platform; default: the one this runs on */
export function build(triple) {
	const target = findTarget(triple);
	const library = compile(ROOT, target, path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target"));
	const addon = path.join(ROOT, target.addon);
	// A process that has the old addon loaded keeps it: the file is replaced, not overwritten.
	const temporary = `${addon}.${process.pid}.tmp`;
	copyFileSync(library, temporary);
	renameSync(temporary, addon);
	return addon;
}

if (isProgram(import.meta.url)) {
	try {
		const { values } = parseArgs({ options: { target: { type: "string" } } });
		console.log(`built ${path.relative(ROOT, build(values.target))}`);
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
