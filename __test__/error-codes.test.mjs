import assert from "node:assert/strict";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { test } from "node:test";
import { SessionManager } from "../index.mjs";

const ROOT = path.join(import.meta.dirname, "..");
const { ERROR_CODES } = createRequire(import.meta.url)("../lib/error.js");

/** The codes that a file names. */
function codesIn(...names) {
	const text = fs.readFileSync(path.join(ROOT, ...names), "utf8");
	return [...new Set(text.match(/\bERR_[A-Z_]+/g))].sort();
}

test("the types name every error code of the package, and no other", () => {
	assert.deepEqual(codesIn("types", "errors.d.ts"), [...ERROR_CODES].sort());
});

test("the core throws no error code that the package does not have", () => {
	assert.deepEqual(
		codesIn("src", "error.rs").filter((code) => code !== "ERR_" && !ERROR_CODES.includes(code)),
		[],
	);
});

test("a failure of the system reads as Node's own does", async () => {
	const file = path.join(ROOT, "no-such-folder", "one.jsonl");
	const own = await SessionManager.verify(file).catch((error) => error);
	const systems = await fs.promises.open(file).catch((error) => error);
	assert.equal(own.message, systems.message);
	assert.deepEqual([own.code, own.errno, own.syscall, own.path], ["ENOENT", systems.errno, "open", file]);
});
