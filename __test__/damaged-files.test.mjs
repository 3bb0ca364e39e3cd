/** What the document about damaged files says is what comes out. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { SessionManager } from "../index.mjs";
import { HEADER, messageLine, text, user } from "./support/lines.mjs";
import { at, freshPlaces, write } from "./support/place.mjs";

freshPlaces();

const ROOT = path.join(import.meta.dirname, "..");
const DOCUMENT = fs.readFileSync(path.join(ROOT, "docs", "DAMAGED-FILES.md"), "utf8");

const one = messageLine(1, user("When to sow beans?"));
const two = messageLine(2, user("And peas?"));
const cut = JSON.stringify(two).slice(0, 70);
const image = [{ type: "image", mimeType: "image/png", data: `blob:sha256:${"1".repeat(64)}` }];

/** By the first column of the table. */
const DAMAGE = {
	"the last line is cut off": `${text(HEADER, one)}${cut}`,
	"a line is no JSON": text(HEADER, one, "{garbage", two),
	"two lines are one, the first of them cut": text(
		HEADER,
		one,
		`${cut}${JSON.stringify({ ...two, parentId: one.id })}`,
	),
	"a second header": text(HEADER, one, { ...HEADER, id: "a1b2c3d4e5f60002" }, two),
	"the header is missing": text(one, two),
	"a parent is missing": text(HEADER, one, { ...two, parentId: "deadbeef" }),
	"parents lead in a circle": text(HEADER, { ...one, parentId: two.id }, two),
	"an entry is its own parent": text(HEADER, { ...one, parentId: one.id }, two),
	"two entries have one id": text(HEADER, one, one, two),
	"a blob is missing": text(HEADER, messageLine(1, user(image))),
	"there are only NUL bytes": "\0".repeat(100),
	"there is only a line that was cut off": JSON.stringify(HEADER).slice(0, 60),
	"the file is empty": "",
};

const ROWS = [...DOCUMENT.matchAll(/^\| (.*) \| (.*) \| (.*) \| (.*) \|$/gm)]
	.map(([, ...cells]) => cells)
	.filter(([damage]) => damage !== "damage" && !damage.startsWith("--"));

/** How opening ends, in the words of the table. */
async function opening(content) {
	const file = write("opened.jsonl", content);
	try {
		const session = await SessionManager.open(file);
		await session.close();
	} catch (error) {
		assert.equal(fs.readFileSync(file, "utf8"), content);
		return `\`${error.code}\``;
	}
	return fs.readFileSync(file, "utf8") === content ? "opens" : "begins a new session";
}

async function looking(file) {
	const found = await SessionManager.verify(file);
	assert.equal(found.ok, found.reason === undefined);
	if (found.reason) return `\`${found.reason}\``;
	return `none, but \`${["duplicateIds", "missingBlobs"].filter((kind) => found[kind].length > 0).join()}\``;
}

async function mending(file, content) {
	try {
		const { changed, backup } = await SessionManager.repair(file);
		if (!changed) return "has nothing to do";
		assert.equal(fs.readFileSync(backup, "utf8"), content);
	} catch (error) {
		assert.equal(fs.readFileSync(file, "utf8"), content);
		return `\`${error.code}\``;
	}
	assert.equal((await SessionManager.verify(file)).ok, true);
	return "mends";
}

describe("the table of damage", () => {
	test("has each kind of damage once", () => {
		assert.deepEqual(
			ROWS.map(([damage]) => damage),
			Object.keys(DAMAGE),
		);
	});

	for (const [damage, ...cells] of ROWS) {
		test(`is right where ${damage}`, async () => {
			const content = DAMAGE[damage];
			const file = write("broken.jsonl", content);
			assert.deepEqual([await opening(content), await looking(file), await mending(file, content)], cells);
		});
	}
});

/** Runs a program as a document shows it, with the package in place of its name. */
function run(document, args = []) {
	const [, program] = /```js\n(.*?)```/s.exec(fs.readFileSync(path.join(ROOT, document), "utf8"));
	const index = pathToFileURL(path.join(ROOT, "index.mjs")).href;
	const file = write("program.mjs", program.replace('"omp-session"', JSON.stringify(index)));
	const options = { encoding: "utf8", cwd: at(), env: { ...process.env, NO_COLOR: "1" } };
	const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], options);
	assert.equal(status, 0, stderr);
	return stdout;
}

test("the program for those without a clone looks, tries and mends", async () => {
	const content = DAMAGE["a line is no JSON"];
	const file = write("broken.jsonl", content);
	const looked = run("docs/DAMAGED-FILES.md", [file]);
	assert.match(looked, /reason: ['"]line 3: not valid JSON['"]/);
	assert.match(looked, /changed: true/);
	assert.equal(fs.readFileSync(file, "utf8"), content);
	const backup = run("docs/DAMAGED-FILES.md", [file, "--write"]).trimEnd().split("\n").at(-1);
	assert.equal(fs.readFileSync(backup, "utf8"), content);
	assert.equal((await SessionManager.verify(file)).ok, true);
});

test("the program of the README prints a tree of two branches, and is the one whose types are checked", () => {
	const printed = run("README.md");
	assert.ok(printed.startsWith("2 {} off\n"), printed);
	const [root, ...others] = JSON.parse(printed.slice(printed.indexOf("\n")));
	assert.equal(others.length, 0);
	assert.equal(root.label, "start");
	assert.deepEqual(
		root.children.map(({ entry }) => entry.message.role),
		["assistant", "user"],
	);
	const readme = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
	assert.ok(readme.includes(fs.readFileSync(path.join(ROOT, "__test__/types/readme.test-d.mts"), "utf8")));
});
