import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { conversation, text } from "./support/lines.mjs";
import { freshPlaces, place, write } from "./support/place.mjs";

freshPlaces();

const DEMO = fileURLToPath(new URL("../demo/demo.mjs", import.meta.url));

function demo(file) {
	const env = { ...process.env, PI_CODING_AGENT_DIR: place.agent, TERM_SESSION_ID: "terminal" };
	return spawnSync(process.execPath, [DEMO, file], { env, encoding: "utf8" });
}

describe("the demo with a path", () => {
	test("does not begin a session in a large blank file", () => {
		const blank = " ".repeat(5000);
		const file = write("s/blank.jsonl", blank);
		const { status, stderr } = demo(file);
		assert.equal(status, 1);
		assert.match(stderr, /is empty/);
		assert.equal(fs.readFileSync(file, "utf8"), blank);
	});

	test("does not change what this terminal goes on with", () => {
		const content = text(...conversation());
		const file = write("s/one.jsonl", content);
		const { status, stdout } = demo(file);
		assert.equal(status, 0);
		assert.match(stdout, /The file was only read/);
		assert.equal(fs.readFileSync(file, "utf8"), content);
		assert.equal(fs.existsSync(`${place.agent}/terminal-sessions`), false);
	});
});
