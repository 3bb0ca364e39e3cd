/**
 * The API reference, of index.d.ts in docs/api and of the Rust core in target/doc. A warning of either is a
 * failure. `npm run docs`
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { cargoEnvironment } from "./cargo.mjs";
import { ROOT } from "./platform.mjs";

function run(command, args, env) {
	const { status, error } = spawnSync(command, args, { cwd: ROOT, env, stdio: "inherit" });
	if (error) console.error(`${command} could not be started (${error.code})`);
	if (status !== 0) process.exitCode = 1;
}

run(process.execPath, [path.join("node_modules", "typedoc", "bin", "typedoc")], process.env);
const rustdoc = ["doc", "--no-deps", "--locked", "--document-private-items", "--quiet"];
run("cargo", rustdoc, { ...cargoEnvironment(), RUSTDOCFLAGS: "-D warnings" });
