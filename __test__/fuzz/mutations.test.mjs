/**
 * Sessions with random damage: opened, walked, listed, appended to, rewritten, verified and repaired.
 * `FUZZ_SECONDS=600 FUZZ_SEED=7 node --test __test__/fuzz/mutations.test.mjs` is a long run; a failure
 * names its seed and number.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../index.mjs";
import { random } from "../parity/sequences.mjs";
import { assistant, conversation, entry, HEADER, idsOf, messageLine, text, user } from "../support/lines.mjs";
import { at, freshPlaces } from "../support/place.mjs";

freshPlaces();

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 4);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

const hook = { role: "hookMessage", customType: "h", content: "h", display: true };
const plain = (type, fields) => ({ type, timestamp: HEADER.timestamp, ...fields });
const SEEDS = [
	text(
		...conversation(),
		entry(5, "compaction", { summary: "s", shortSummary: "t", firstKeptEntryId: "00000003", tokensBefore: 1 }),
		entry(6, "label", { targetId: "00000001", label: "x" }),
		entry(7, "custom_message", { customType: "c", content: "é日\ud83d", display: true }),
		messageLine(8, assistant("é\u{1f9ea}", { usage: null })),
	),
	text(
		{ ...HEADER, version: undefined },
		plain("message", { message: user("a") }),
		plain("compaction", { summary: "s", firstKeptEntryIndex: 1, tokensBefore: 2 }),
		plain("message", { message: hook }),
	),
	text({ ...HEADER, version: 2 }, messageLine(1, hook), messageLine(2, assistant("b"))),
].map((content) => Buffer.from(content));

/** Stretches that are likely to matter. */
const PIECES = [
	...'{}[],:"\\\n\0 ',
	"\r\n",
	"\ufeff",
	"null",
	"1e9",
	"-0",
	'"id":"00000001"',
	'"parentId":"00000008"',
	'"type":"session"',
	"\\ud800",
	text(entry(26, "custom", { customType: "z" })).trimEnd(),
	'"__proto__":{}',
	'"timestamp":12',
	`blob:sha256:${"a".repeat(64)}`,
	'"version":2',
	'"message":null',
];

function mutate(next, bytes) {
	const int = (limit) => Math.floor(next() * limit);
	let out = bytes;
	for (let count = 1 + int(5); count > 0; count--) {
		const place = int(out.length + 1);
		const [head, rest] = [out.subarray(0, place), out.subarray(place)];
		const from = int(out.length + 1);
		const pieces = [
			() => [head, rest.subarray(int(30))],
			() => [head, Buffer.from(PIECES[int(PIECES.length)], next() < 0.1 ? "latin1" : "utf8"), rest],
			() => [head, Buffer.of(int(256)), rest.subarray(1)],
			() => [head, out.subarray(from, from + int(200)), rest],
			() => [head],
		];
		out = Buffer.concat(pieces[int(pieces.length)]());
	}
	return out;
}

/** How many entries a reader finds that knows only whole lines of JSON. */
function countPlainly(bytes) {
	let header;
	let count = 0;
	for (const line of bytes
		.toString("utf8")
		.replace(/^\ufeff/, "")
		.split("\n")) {
		let object;
		try {
			object = JSON.parse(line.replace(/^[\0\s]+|[\0\s]+$/g, ""));
		} catch {
			continue;
		}
		if (typeof object !== "object" || object === null || Array.isArray(object)) continue;
		const isHeader = object.type === "session";
		if (header === undefined && isHeader && typeof object.id === "string") header = object;
		else if (header !== undefined && !isHeader && (!(header.version >= 2) || typeof object.id === "string")) count++;
	}
	return count;
}

function countNodes(tree) {
	let count = 0;
	for (const open = [...tree]; open.length > 0; count++) open.push(...open.pop().children);
	return count;
}

/** Opens the file; nothing if it is refused as no session, and then it is as it was. */
async function openOrRefuse(file, bytes) {
	try {
		return await SessionManager.open(file);
	} catch (error) {
		assert.equal(error.code, "ERR_SESSION_CORRUPT", error.stack);
		assert.deepEqual(fs.readFileSync(file), bytes);
		return undefined;
	}
}

async function checkOne(file, bytes) {
	fs.writeFileSync(file, bytes);
	const session = await openOrRefuse(file, bytes);
	if (session === undefined) return;
	const isBlank = /^\s*$/.test(bytes.toString("utf8"));
	if (!isBlank) assert.deepEqual(fs.readFileSync(file), bytes);
	const entries = session.getEntries();
	JSON.stringify(entries);
	assert.ok(entries.length >= countPlainly(bytes));
	assert.equal(countNodes(session.getTree()), entries.length);
	assert.ok(session.buildSessionContext().messages.every((message) => message !== null && message !== undefined));
	for (const { id } of entries)
		if (typeof id === "string") new Set(session.getBranch(id)).add(...session.getChildren(id), null);
	assert.equal((await SessionManager.list("/srv/garden", path.dirname(file))).length, 1);
	const id = session.appendMessage(user("new"));
	await session.setSessionName("A name");
	await session.rewriteEntries();
	await session.close();
	const again = await SessionManager.open(file);
	assert.deepEqual(idsOf(again.getEntries()), [...idsOf(entries), id]);
	await SessionManager.repair(file);
	assert.equal((await SessionManager.verify(file)).ok, true);
	assert.ok((await SessionManager.open(file)).getEntries().length > entries.length);
}

test(`damage of any kind neither crashes, nor loses what can be read, nor stops a repair (seed ${SEED})`, async () => {
	const next = random(SEED);
	const until = Date.now() + SECONDS * 1000;
	let number = 0;
	for (; Date.now() < until || number < 50; number++) {
		const dir = at(String(number));
		fs.mkdirSync(dir);
		const bytes = mutate(next, SEEDS[Math.floor(next() * SEEDS.length)]);
		try {
			await checkOne(path.join(dir, "one.jsonl"), bytes);
		} catch (error) {
			error.message = `seed ${SEED}, number ${number}: ${error.message}\n${JSON.stringify(bytes.toString("latin1"))}`;
			throw error;
		}
		fs.rmSync(dir, { recursive: true });
	}
	if (process.env.FUZZ_SECONDS) console.log(`${number} damaged sessions from seed ${SEED}`);
});
