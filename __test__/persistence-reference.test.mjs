import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { SessionManager } from "../index.mjs";
import { persist } from "./reference/persist.mjs";
import { Values } from "./reference/values.mjs";
import { at, freshPlaces, place } from "./support/place.mjs";

freshPlaces();

/** `RUNS=5000 SEED=7 node --test __test__/persistence-reference.test.mjs` is the long run. */
const RUNS = Number(process.env.RUNS ?? 20);
const SEED = Number(process.env.SEED ?? 1);
const ENTRIES = 12;

/** A message that stays readable however long the values are. */
function firstDifference(actual, expected) {
	if (actual === expected) return undefined;
	let from = 0;
	while (actual[from] === expected[from]) from++;
	const around = (text) => text.slice(Math.max(0, from - 60), from + 60);
	return `at ${from}: …${around(actual)}… is not …${around(expected)}…`;
}

function blobsInStore() {
	const dir = path.join(place.agent, "blobs");
	return new Map(
		(fs.existsSync(dir) ? fs.readdirSync(dir) : []).map((name) => [name, fs.readFileSync(path.join(dir, name))]),
	);
}

/** Returns the number of entries compared. */
async function compare(seed) {
	const values = new Values(seed);
	// Every other session has no file yet: its first entries are written together.
	const session =
		seed % 2 === 0 ? await SessionManager.open(at(`s/${seed}.jsonl`)) : SessionManager.create("/srv/garden", at("s"));
	const blobs = new Map();
	const expected = [];
	const read = [];
	for (let left = ENTRIES; left > 0; left--) {
		const known = session.getEntries().length;
		values.append(session);
		for (const entry of session.getEntries().slice(known)) {
			const stored = persist(entry);
			expected.push(JSON.stringify(stored.value));
			read.push(JSON.stringify(stored.read));
			for (const [hash, bytes] of stored.blobs) blobs.set(hash, bytes);
		}
	}
	await session.ensureOnDisk();
	await session.close();
	const [, ...lines] = fs.readFileSync(session.getSessionFile(), "utf8").trimEnd().split("\n");
	assert.equal(lines.length, expected.length, `seed ${seed}`);
	for (const [number, line] of lines.entries()) {
		const difference = firstDifference(JSON.stringify(JSON.parse(line)), expected[number]);
		assert.equal(difference, undefined, `seed ${seed}, entry ${number}`);
	}
	const store = blobsInStore();
	assert.deepEqual([...store.keys()].sort(), [...blobs.keys()].sort(), `seed ${seed}`);
	for (const [hash, bytes] of blobs) assert.ok(store.get(hash).equals(bytes), `seed ${seed}, blob ${hash}`);
	const again = await SessionManager.open(session.getSessionFile());
	for (const [number, entry] of again.getEntries().entries()) {
		const difference = firstDifference(JSON.stringify(entry), read[number]);
		assert.equal(difference, undefined, `seed ${seed}, entry ${number} read again`);
	}
	const bytes = fs.readFileSync(session.getSessionFile());
	await again.rewriteEntries();
	assert.ok(fs.readFileSync(session.getSessionFile()).equals(bytes), `seed ${seed}, rewritten`);
	await again.close();
	fs.rmSync(at("s"), { recursive: true });
	fs.rmSync(place.agent, { recursive: true, force: true });
	return expected.length;
}

test("lines and blobs of any entries are those of the rules, applied slowly, and come back as they were", async () => {
	let entries = 0;
	for (let run = 0; run < RUNS; run++) entries += await compare(SEED * 1_000_000 + run);
	if (process.env.RUNS) console.log(`${entries} entries of ${RUNS} sessions from seed ${SEED}`);
});
