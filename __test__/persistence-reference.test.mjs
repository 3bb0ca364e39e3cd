import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { SessionManager } from "../index.mjs";
import { persist } from "./reference/persist.mjs";
import { Values } from "./reference/values.mjs";
import { at, freshPlaces, place } from "./support/place.mjs";

freshPlaces();

/** `RUNS=20000 SEED=7 node --test __test__/persistence-reference.test.mjs` is the long run. */
const RUNS = Number(process.env.RUNS ?? 40);
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

async function compare(seed) {
	const values = new Values(seed);
	const session = await SessionManager.open(at(`s/${seed}.jsonl`));
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
	await again.close();
	fs.rmSync(at("s"), { recursive: true });
	fs.rmSync(place.agent, { recursive: true, force: true });
}

test("lines and blobs of any entries are those of the rules, applied slowly, and come back as they were", async () => {
	for (let run = 0; run < RUNS; run++) await compare(SEED * 1_000_000 + run);
});
