import assert from "node:assert/strict";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { test } from "node:test";
import { packageFiles } from "../../scripts/platform-packages.mjs";
import { TARGETS } from "../../scripts/targets.mjs";

const ROOT = path.join(import.meta.dirname, "../..");
const { ADDONS } = createRequire(import.meta.url)("../../lib/addons.js");

function read(...names) {
	return fs.readFileSync(path.join(ROOT, ...names), "utf8");
}

test("the packages of the platforms are what npm run packages writes", () => {
	const files = packageFiles();
	for (const [file, text] of files) assert.equal(read(file), text, file);
	const folders = new Set(files.map(([file]) => file.split(path.sep)[1]));
	assert.deepEqual(fs.readdirSync(path.join(ROOT, "npm")).sort(), [...folders].sort());
});

test("the loader looks for the addon of every platform, and of no other", () => {
	const platforms = TARGETS.map(({ platform }) => platform);
	assert.deepEqual(Object.keys(ADDONS).sort(), platforms.sort());
	const source = read("lib/addons.js");
	for (const { addon, packageName } of TARGETS) {
		assert.ok(source.includes(`require("../${addon}")`), addon);
		assert.ok(source.includes(`require("${packageName}")`), packageName);
	}
});

test("the crate and the package have one version", () => {
	const [, crate] = /^version = "(.*)"$/m.exec(read("Cargo.toml"));
	assert.equal(crate, JSON.parse(read("package.json")).version);
});

test("README and workflows name every platform", () => {
	for (const { platform, triple } of TARGETS) {
		assert.ok(read("README.md").includes(`\`${platform}\``), `README.md: ${platform}`);
		assert.ok(read(".github/workflows/build.yml").includes(triple), `build.yml: ${triple}`);
	}
});

test("ES modules and CommonJS have the same names", async () => {
	const names = Object.keys(await import("../../index.mjs")).sort();
	assert.deepEqual(names, Object.keys(createRequire(import.meta.url)("../../index.js")).sort());
});
