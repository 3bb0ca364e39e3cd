import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../index.mjs";
import { random } from "../parity/sequences.mjs";
import { entry, HEADER, text, user } from "../support/lines.mjs";
import { at, freshPlaces, write } from "../support/place.mjs";
import { audit, countIds, startWriter } from "./children.mjs";

freshPlaces();

/** `KILLS=2000 node --test __test__/process/kill.test.mjs` is the long run. */
const KILLS = Number(process.env.KILLS ?? 24);

/** A file of some size, so that a rewrite takes a while. */
function content() {
	const ballast = Array.from({ length: 150 }, (_, number) =>
		entry(number + 1, "custom", { customType: "x", data: "y".repeat(3000) }),
	);
	return text(HEADER, ...ballast);
}

function filesBelow(dir) {
	return fs.readdirSync(dir, { recursive: true }).map((name) => path.join(dir, String(name)));
}

async function killOnce(seed, kinds) {
	const file = write("s/one.jsonl", content());
	const writer = startWriter([file, "w", seed, 1_000_000, kinds], { PI_CODING_AGENT_DIR: at("agent") });
	while (writer.acknowledged.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
	await new Promise((resolve) => setTimeout(resolve, random(seed)() * 50));
	writer.child.kill("SIGKILL");
	assert.equal((await writer.ended).stderr, "");
	const sessions = [at("s"), at("agent")]
		.filter(fs.existsSync)
		.flatMap(filesBelow)
		.filter((name) => name.endsWith(".jsonl"));
	const present = new Set(sessions.flatMap((name) => [...countIds(name).keys()]));
	const lost = writer.acknowledged.filter((line) => line.id && !present.has(line.id));
	assert.deepEqual(lost, [], `seed ${seed}`);
	for (const name of sessions) {
		assert.deepEqual(audit(name, writer.acknowledged).doubled, []);
		const session = await SessionManager.open(name);
		const id = session.appendMessage(user("after the crash"));
		await session.close();
		assert.equal((await SessionManager.open(name)).getEntry(id).message.content, "after the crash");
	}
	const listed = await SessionManager.list("/srv/garden", at("s"));
	assert.ok(listed.every((info) => !path.basename(info.path).startsWith(".")));
	fs.rmSync(at("s"), { recursive: true });
	fs.rmSync(at("agent"), { recursive: true, force: true });
}

test(`everything acknowledged survives a kill while appending, renaming and editing`, async () => {
	for (let kill = 0; kill < KILLS; kill++) await killOnce(kill, "append,append,append,rename,edit");
});

test(`everything acknowledged survives a kill while forking and moving too`, async () => {
	for (let kill = 0; kill < KILLS; kill++) await killOnce(10_000 + kill, "append,append,append,rename,fork,move,flush");
});

test(`everything acknowledged survives a kill while branching, closing and beginning anew too`, async () => {
	for (let kill = 0; kill < KILLS; kill++) await killOnce(20_000 + kill, "append,append,append,new,branch,close");
});

async function killRepair(seed) {
	const lines = content().trimEnd().split("\n");
	const broken = [lines[0], ...lines.slice(2).map((line, at) => (at % 20 === 0 ? line.slice(0, -3) : line))].join("\n");
	const file = write("s/one.jsonl", broken);
	const child = spawn(process.execPath, [path.join(import.meta.dirname, "repairer.mjs"), file]);
	let said = "";
	child.stdout.on("data", (chunk) => {
		said += chunk;
	});
	const ended = new Promise((resolve) => child.on("close", resolve));
	while (said === "") await new Promise((resolve) => setTimeout(resolve, 1));
	await new Promise((resolve) => setTimeout(resolve, random(seed)() * 12));
	child.kill("SIGKILL");
	await ended;
	const backups = fs.readdirSync(at("s")).filter((name) => name.includes(".bak-"));
	const now = fs.readFileSync(file, "utf8");
	if (said.endsWith("done\n")) assert.notEqual(now, broken);
	if (now !== broken) {
		assert.deepEqual([...countIds(file).values()], new Array(142).fill(1));
		assert.equal(fs.readFileSync(at("s", backups[0]), "utf8"), broken);
	}
	const again = await SessionManager.repair(file);
	assert.deepEqual([again.entries, (await SessionManager.verify(file)).ok], [141, true]);
	assert.equal((await SessionManager.list("/srv/garden", at("s"))).length, 1);
	fs.rmSync(at("s"), { recursive: true });
}

test(`a repair that is killed has left the file as it was, or mended it and kept the original`, async () => {
	for (let kill = 0; kill < KILLS; kill++) await killRepair(30_000 + kill);
});
