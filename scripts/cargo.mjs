/**
 * Cargo, also where the home directory is not the one that Rust was installed for: rustup looks for
 * its toolchains below HOME only. `node scripts/cargo.mjs <arguments of cargo>`
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { isProgram, ROOT } from "./platform.mjs";

function hasToolchains(rustupHome) {
	return existsSync(path.join(rustupHome, "toolchains"));
}

/** The environment in which the cargo on the PATH finds its toolchain. */
export function cargoEnvironment() {
	if (process.env.RUSTUP_HOME || hasToolchains(path.join(os.homedir(), ".rustup"))) return process.env;
	const name = process.platform === "win32" ? "cargo.exe" : "cargo";
	const dir = (process.env.PATH ?? "").split(path.delimiter).find((part) => existsSync(path.join(part, name)));
	// By default rustup puts its programs into .cargo/bin and the toolchains into .rustup beside .cargo.
	const beside = dir === undefined ? undefined : path.resolve(dir, "../../.rustup");
	return beside && hasToolchains(beside) ? { ...process.env, RUSTUP_HOME: beside } : process.env;
}

if (isProgram(import.meta.url)) {
	const options = { cwd: ROOT, env: cargoEnvironment(), stdio: "inherit" };
	const { status, error } = spawnSync("cargo", process.argv.slice(2), options);
	if (error) console.error(`cargo could not be started (${error.code}): install Rust first`);
	process.exitCode = status ?? 1;
}
