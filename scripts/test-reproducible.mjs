/**
 * Builds the addon again from a copy of the sources elsewhere, with nothing taken over from the first
 * build, and compares the bytes. `npm run test:reproducible`
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { build, compile } from "./build.mjs";
import { ROOT } from "./platform.mjs";
import { findTarget } from "./targets.mjs";

/** What the crate is made of, with the tests and benchmarks that its manifest names. */
const SOURCES = ["Cargo.toml", "Cargo.lock", "build.rs", "src", "tests", "benches"];

function sha256(file) {
	return createHash("sha256").update(readFileSync(file)).digest("hex");
}

const dir = mkdtempSync(path.join(os.tmpdir(), "omp-session-reproducible-"));
try {
	const copy = path.join(dir, "a", "place", "with", "another", "name");
	mkdirSync(copy, { recursive: true });
	for (const name of SOURCES) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
	const first = sha256(build());
	const second = sha256(compile(copy, findTarget(), path.join(dir, "built")));
	console.log(`built here:      sha256 ${first}\nbuilt elsewhere: sha256 ${second}`);
	if (first !== second) throw new Error("two builds of the same sources differ");
	console.log("1 passed, 0 failed");
} catch (error) {
	console.error(error.message);
	console.log("0 passed, 1 failed");
	process.exitCode = 1;
} finally {
	rmSync(dir, { recursive: true, force: true });
}
