import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

const ROOT = path.join(import.meta.dirname, "..");

function read(...names) {
	return fs.readFileSync(path.join(ROOT, ...names), "utf8");
}

/** Names of a folder's files and folders, without those that every folder has. */
function namesIn(...folder) {
	return fs.readdirSync(path.join(ROOT, ...folder)).filter((name) => name !== "mod.rs" && name !== "lib.rs");
}

const DOCUMENTS = [
	"README.md",
	"CONTRIBUTING.md",
	"SECURITY.md",
	...namesIn("docs").map((name) => `docs/${name}`),
].filter((name) => name.endsWith(".md"));

test("the map of the code names every file of lib and every part of the core", () => {
	const map = read("docs", "ARCHITECTURE.md");
	for (const name of namesIn("lib")) assert.ok(map.includes(name), `lib/${name}`);
	for (const name of namesIn("src")) assert.ok(map.includes(`src/${name}`), `src/${name}`);
	for (const name of namesIn("src", "session")) assert.ok(map.includes(name), `src/session/${name}`);
});

test("the description of the format names every type, role, block and field that the types have", () => {
	const format = read("docs", "FORMAT.md");
	for (const file of ["entries.d.ts", "messages.d.ts"]) {
		const types = read("types", file);
		for (const [, name] of types.matchAll(/^\t{1,2}(\w+)\??:/gm))
			assert.ok(format.includes(`\`${name}\``), `${file}: ${name}`);
		for (const [, name] of types.matchAll(/(?:type|role): "(\w+)";/g)) assert.ok(format.includes(`\`${name}\``), name);
	}
});

test("every link to a file of the tree leads to one", () => {
	for (const document of [...DOCUMENTS, "examples/README.md", "CHANGELOG.md"]) {
		for (const [, link] of read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
			const target = path.join(ROOT, path.dirname(document), link);
			assert.ok(fs.existsSync(target), `${document}: ${link}`);
		}
	}
});

test("documents name no command that package.json does not have", () => {
	const { scripts } = JSON.parse(read("package.json"));
	for (const document of DOCUMENTS) {
		for (const [, name] of read(document).matchAll(/npm run (?:--silent )?([\w:]+)/g)) {
			assert.ok(name in scripts, `${document}: npm run ${name}`);
		}
	}
});

test("every example is in the list of examples", () => {
	const list = read("examples", "README.md");
	for (const name of namesIn("examples")) assert.ok(name === "README.md" || list.includes(`(${name})`), name);
});
