import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { conversation, HEADER, text, user } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";
import { putSession } from "./support/sessions.mjs";

freshPlaces();

const EXAMPLES = path.join(import.meta.dirname, "../examples");

function example(name, ...args) {
	const options = { encoding: "utf8", env: { ...process.env } };
	const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(EXAMPLES, name), ...args], options);
	assert.equal(status, 0, stderr);
	return stdout;
}

describe("the example", () => {
	test("list-and-resume shows the sessions of a project and goes on with one of them", () => {
		const file = putSession("one", { title: "Beans" });
		const listed = example("list-and-resume.mjs", "/srv/garden");
		assert.match(listed, new RegExp(`^${HEADER.id} .* messages {2}Beans\n$`));
		const resumed = example("list-and-resume.mjs", "/srv/garden", HEADER.id.slice(0, 6), "And the peas?");
		assert.match(resumed, /the last of them: And the peas\?/);
		assert.equal(readLines(file).at(-1).message.content, "And the peas?");
	});

	test("follow shows what somebody else appends", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const child = spawn(process.execPath, [path.join(EXAMPLES, "follow.mjs"), file], { env: { ...process.env } });
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		assert.match((await lines.next()).value, /4 entries so far/);
		const session = await SessionManager.open(file);
		const id = session.appendMessage(user("from another process"));
		assert.equal((await lines.next()).value, `${id} user: from another process`);
		await session.setSessionName("Renamed: another file is in its place");
		const last = session.appendLabelChange(id, "done");
		assert.equal((await lines.next()).value, `${last} label`);
		assert.equal((await lines.next()).done, true);
		await session.close();
	});

	test("custom-storage keeps a session in an object of its own", () => {
		assert.match(example("custom-storage.mjs"), /^2 messages in 1 file: .*\nThe sunny one\.\n$/);
		assert.equal(fs.existsSync(at("agent", "sessions")), false);
	});

	test("repair does to a damaged file what the walk through one shows", () => {
		const document = fs.readFileSync(path.join(EXAMPLES, "../docs/DAMAGED-FILES.md"), "utf8");
		const [broken, looked, mended, whole] = [...document.matchAll(/```\w+\n(.*?)```/gs)].map(([, block]) => block);
		const file = write("broken.jsonl", broken.slice(0, -1));
		const undated = (output) => output.replaceAll(at("/"), "").replace(/bak-\S+/, "bak-");
		assert.equal(example("repair.mjs", file), looked);
		assert.equal(fs.readFileSync(file, "utf8"), broken.slice(0, -1));
		assert.ok(undated(example("repair.mjs", file, "--write")).endsWith(undated(mended)));
		assert.equal(fs.readFileSync(file, "utf8"), whole);
		const [backup] = fs.readdirSync(at()).filter((name) => name.includes(".bak-"));
		assert.equal(fs.readFileSync(at(backup), "utf8"), broken.slice(0, -1));
		assert.match(example("repair.mjs", file), /^nothing to mend\n/);
		fs.renameSync(at(backup), file);
		assert.equal(example("repair.mjs", file), looked);
	});

	for (const [name, args, said] of [
		["repair", () => [], /^which file\? .*\n$/],
		["repair", () => [at("nothing.jsonl")], /^ENOENT: .*nothing\.jsonl'\n$/],
		["repair", () => [write("nul.jsonl", "\0\0")], /^.*nothing in it can be read .*\n$/],
		["follow", () => [], /^follow which file\? .*\n$/],
		["follow", () => [at("nothing.jsonl")], /^follow which file\? .*nothing\.jsonl\n$/],
		["list-and-resume", () => ["/srv/garden", HEADER.id], /^append which text\? .*\n$/],
		["list-and-resume", () => ["/srv/garden", "ffff", "Hello"], /^no session with an id that begins with ffff\n$/],
	]) {
		test(`${name} says in one line why it cannot: ${said.source.slice(1, -3)}`, () => {
			const file = putSession("one");
			const before = fs.readFileSync(file, "utf8");
			const options = { encoding: "utf8", env: { ...process.env } };
			const result = spawnSync(process.execPath, [path.join(EXAMPLES, `${name}.mjs`), ...args()], options);
			assert.match(result.stderr, said);
			assert.equal(result.status, 1);
			assert.equal(fs.existsSync(at("nothing.jsonl")), false);
			assert.equal(fs.readFileSync(file, "utf8"), before);
		});
	}
});
