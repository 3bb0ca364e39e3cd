import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { at, freshPlaces, write } from "../support/place.mjs";

freshPlaces();

const ROOT = path.join(import.meta.dirname, "../..");
const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));

/** A package without any addon; loads it and returns the error. */
function errorOf(prepare) {
	for (const name of ["lib", "index.js", "package.json"])
		fs.cpSync(path.join(ROOT, name), at("p", name), { recursive: true });
	const program = write(
		"program.cjs",
		`${prepare}
		try {
			require("./p/index.js");
		} catch ({ code, message, tried }) {
			console.log(JSON.stringify({ code, message, tried }));
		}`,
	);
	return JSON.parse(spawnSync(process.execPath, [program], { encoding: "utf8" }).stdout);
}

/** Makes the process one of a platform that has an addon, wherever the test runs. */
const ON_A_MAC = `
	Object.defineProperty(process, "platform", { value: "darwin" });
	Object.defineProperty(process, "arch", { value: "arm64" });
`;

test("without an addon the error names each place that was tried, and what to do", () => {
	const { code, message, tried } = errorOf(ON_A_MAC);
	assert.equal(code, "ERR_ADDON_UNAVAILABLE");
	assert.equal(tried.length, 2);
	assert.ok(tried[0].startsWith(at("p", "omp-session.darwin-arm64.node")), tried[0]);
	assert.ok(tried[1].startsWith(`@omp-session/darwin-arm64, looked for from ${at("p", "lib")}`), tried[1]);
	for (const place of tried) assert.ok(message.includes(place));
	assert.match(message, /npm install --include=optional omp-session@/);
});

test("an addon of another version is refused, with both versions in the error", () => {
	const addon = '{ NATIVE_VERSION: "0.0.1" }';
	write("p/node_modules/@omp-session/darwin-arm64/index.js", `module.exports = ${addon};`);
	const { code, tried } = errorOf(ON_A_MAC);
	assert.equal(code, "ERR_ADDON_UNAVAILABLE");
	assert.ok(tried[1].endsWith(`this is the addon of version 0.0.1, needed is ${version}`), tried[1]);
});

test("a platform without an addon is named, with those that have one", () => {
	const { code, message } = errorOf('Object.defineProperty(process, "platform", { value: "sunos" });');
	assert.equal(code, "ERR_ADDON_UNAVAILABLE");
	assert.match(message, /no addon for sunos-.*there are some for linux-x64-gnu/);
});
