import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { conversation, HEADER, idsOf, messageLine, text, textsOf, user, VERSION_1 } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

const [header, one, two, three, four] = conversation();
const custom = (id, parentId) => ({ type: "custom", id, parentId, timestamp: HEADER.timestamp, customType: "x" });

/** Every line is one JSON object, the first a header, and every parent exists. */
function assertHealthy(file) {
	const lines = readLines(file);
	assert.ok(lines.every((line) => line !== null));
	assert.equal(lines[0].type, "session");
	assert.equal(typeof lines[0].id, "string");
	const ids = new Set(idsOf(lines));
	for (const line of lines.slice(1)) if (line.parentId) assert.ok(ids.has(line.parentId), line.parentId);
	assert.equal(fs.readFileSync(file, "utf8").endsWith("\n"), true);
}

describe("verify", () => {
	test("finds nothing in a sound file", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const { path: where, size, ...rest } = await SessionManager.verify(file);
		assert.deepEqual([where, size], [file, fs.statSync(file).size]);
		assert.deepEqual(rest, {
			ok: true,
			hasHeader: true,
			version: 3,
			orphans: [],
			cycles: [],
			duplicateIds: [],
			missingBlobs: [],
			lines: 5,
			entries: 4,
			skipped: [],
			skippedCount: 0,
			tornTail: null,
		});
	});

	test("names skipped lines, orphans, cycles, repeated ids, missing blobs and a torn tail, and changes nothing", async () => {
		const hash = "1".repeat(64);
		const image = messageLine(9, user([{ type: "image", mimeType: "image/png", data: `blob:sha256:${hash}` }]), {
			parentId: null,
		});
		const lines = [
			header,
			one,
			"{cut",
			custom("lost", "gone"),
			custom("a", "b"),
			custom("b", "a"),
			custom("00000001", null),
			image,
		];
		const file = write("s/one.jsonl", `${text(...lines)}{"type":"mess`);
		const before = fs.readFileSync(file);
		const found = await SessionManager.verify(file);
		assert.equal(found.ok, false);
		assert.deepEqual(
			found.skipped.map(({ line, reason }) => [line, reason]),
			[[3, "not valid JSON"]],
		);
		assert.deepEqual(
			[found.orphans, found.cycles, found.duplicateIds, found.missingBlobs],
			[["lost"], ["a"], ["00000001"], [hash]],
		);
		assert.equal(found.tornTail, before.length - '{"type":"mess'.length);
		assert.deepEqual(fs.readFileSync(file), before);
	});

	test("reads a file without a header", async () => {
		const found = await SessionManager.verify(write("s/one.jsonl", text(one, two)));
		assert.deepEqual([found.ok, found.hasHeader, found.version, found.entries], [false, false, 0, 2]);
	});

	for (const [what, content, reason] of [
		["an empty file", "", /^the file is empty$/],
		["a file of white space", " \n\n", /nothing but white space/],
		["a file of one line that is cut off", '{"type":"sess', /^the file holds no complete line$/],
		["a file without a header", text(one), /no session header/],
		["a line that is not JSON", `${text(header)}{cut\n`, /^line 2: not valid JSON$/],
		["a last line that is cut off", `${text(header)}{"type":"mess`, /cut off, from byte \d+ on$/],
		["an entry whose parent is missing", text(header, custom("lost", "gone")), /parent of entry lost is missing/],
		["entries in a circle", text(header, custom("a", "b"), custom("b", "a")), /parents of entry a lead in a circle/],
		["an entry that is its own parent", text(header, custom("a", "a")), /parents of entry a lead in a circle/],
	]) {
		test(`says in words what is wrong with ${what}`, async () => {
			const found = await SessionManager.verify(write("s/one.jsonl", content));
			assert.equal(found.ok, false);
			assert.match(found.reason, reason);
		});
	}

	test("of a missing file is refused", async () => {
		await assert.rejects(SessionManager.verify(at("nothing.jsonl")), { code: "ENOENT", path: at("nothing.jsonl") });
	});
});

describe("repair", () => {
	test("leaves a sound file alone", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const before = fs.statSync(file, { bigint: true });
		const result = await SessionManager.repair(file);
		assert.deepEqual([result.changed, result.backup, result.entries], [false, null, 4]);
		assert.equal(fs.statSync(file, { bigint: true }).mtimeNs, before.mtimeNs);
		assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
	});

	test("keeps every readable entry, connects orphans and keeps the original beside it", async () => {
		const lost = { ...three, parentId: "gone" };
		const damaged = `${text(header, one, "{cut", two, "null", lost, four)}{"type":"mess`;
		const file = write("s/one.jsonl", damaged);
		fs.chmodSync(file, 0o640);
		const dry = await SessionManager.repair(file, { dryRun: true });
		assert.deepEqual([dry.changed, dry.backup, dry.dryRun], [true, null, true]);
		assert.equal(fs.readFileSync(file, "utf8"), damaged);
		assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
		const result = await SessionManager.repair(file);
		assert.deepEqual(
			[result.changed, result.entries, result.leftOut, result.reconnected, result.newHeader],
			[true, 4, 3, 1, false],
		);
		assert.match(path.basename(result.backup), /^one\.jsonl\.bak-\d{4}-\d\d-\d\dT/);
		assert.equal(fs.readFileSync(result.backup, "utf8"), damaged);
		assert.equal(fs.readFileSync(file, "utf8"), text(header, one, two, { ...three, parentId: "00000002" }, four));
		assert.equal(fs.statSync(file).mode & 0o777, 0o640);
		assert.equal((await SessionManager.verify(file)).ok, true);
	});

	for (const [name, first] of [
		["no header", []],
		["a cut header", [JSON.stringify(header).slice(0, -15)]],
		["garbage for a header", ["garbage"]],
	]) {
		test(`makes a header for a file with ${name}`, async () => {
			const file = write("s/one.jsonl", text(...first, one, two));
			await assert.rejects(SessionManager.open(file), { code: "ERR_SESSION_CORRUPT" });
			const result = await SessionManager.repair(file);
			assert.deepEqual([result.newHeader, result.entries], [true, 2]);
			assertHealthy(file);
			const session = await SessionManager.open(file);
			assert.deepEqual(textsOf(session.buildSessionContext().messages), ["one", "two"]);
			const cut = name === "a cut header";
			assert.equal(session.getSessionId() === HEADER.id, cut);
			assert.equal(session.getHeader().timestamp, cut ? HEADER.timestamp : one.timestamp);
		});
	}

	test("takes in entries from before the header, and the title line's title", async () => {
		const line = JSON.stringify({ type: "title", v: 1, title: "Slot", updatedAt: HEADER.timestamp, pad: "" });
		const slot = `${line.slice(0, -2)}${" ".repeat(255 - line.length)}"}`;
		const file = write("s/one.jsonl", text(slot, one, header, two, { note: "kept" }));
		await SessionManager.repair(file);
		assert.deepEqual(readLines(file), [{ ...header, title: "Slot" }, one, two, { note: "kept" }]);
	});

	test("cuts a circle at its first entry and upgrades old versions", async () => {
		const file = write("s/one.jsonl", text(header, custom("a", "b"), custom("b", "a")));
		await SessionManager.repair(file);
		assert.deepEqual(
			readLines(file)
				.slice(1)
				.map((line) => line.parentId),
			[null, "a"],
		);
		const { version: _, ...old } = HEADER;
		const plain = { type: "message", timestamp: HEADER.timestamp, message: user("old") };
		const second = write("s/two.jsonl", text(old, plain, "{cut", plain));
		const seen = idsOf((await SessionManager.open(second)).getEntries());
		await SessionManager.repair(second);
		assertHealthy(second);
		assert.deepEqual(idsOf(readLines(second).slice(1)), seen);
	});

	test("counts every stretch that it leaves out, also beyond those that are listed, and a second header", async () => {
		const file = write("s/one.jsonl", text(header, ...new Array(1500).fill("{cut"), { ...header, id: "other" }, one));
		const dry = await SessionManager.repair(file, { dryRun: true });
		const { leftOut, entries } = await SessionManager.repair(file);
		assert.deepEqual([dry.leftOut, leftOut, entries], [1501, 1501, 1]);
		assert.deepEqual(readLines(file), [header, one]);
	});

	test("makes a root of an entry that is its own parent", async () => {
		const file = write("s/one.jsonl", text(header, custom("a", "a"), custom("b", "a")));
		assert.equal((await SessionManager.repair(file)).reconnected, 1);
		assert.deepEqual(readLines(file).slice(1), [custom("a", null), custom("b", "a")]);
	});

	test("takes the title line in front of a session of version 1 for no entry", async () => {
		const title = { type: "title", v: 1, title: "Beans", source: "user", updatedAt: HEADER.timestamp };
		const file = write("s/one.jsonl", text(title, ...VERSION_1));
		const { entries } = await SessionManager.repair(file);
		assert.deepEqual([entries, readLines(file)[0].title], [4, "Beans"]);
		assert.equal((await SessionManager.verify(file)).entries, 4);
	});

	test("of a file with nothing to keep is refused, and the file stays", async () => {
		const file = write("s/one.jsonl", "a log\nwithout JSON\n");
		await assert.rejects(SessionManager.repair(file), (error) => {
			assert.deepEqual([error.code, error.path], ["ERR_SESSION_CORRUPT", file]);
			assert.doesNotMatch(error.message, /repair\(/, "no advice to do again what has just failed");
			return true;
		});
		assert.equal(fs.readFileSync(file, "utf8"), "a log\nwithout JSON\n");
		assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
	});
});
