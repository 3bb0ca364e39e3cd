import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../../index.mjs";
import { HEADER, text } from "../support/lines.mjs";
import { at, freshPlaces, readLines, write } from "../support/place.mjs";
import { audit, startWriter } from "./children.mjs";

freshPlaces();

/** Lets writers loose on one file and checks what they acknowledged. */
async function together(count, calls, kinds) {
	const file = write("s/one.jsonl", text(HEADER));
	const writers = Array.from({ length: count }, (_, number) => startWriter([file, `w${number}`, number, calls, kinds]));
	const ends = await Promise.all(writers.map((writer) => writer.ended));
	for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
	const acknowledged = writers.flatMap((writer) => writer.acknowledged);
	assert.ok(acknowledged.filter((line) => line.id).length > count);
	assert.deepEqual(audit(file, acknowledged), { missing: [], doubled: [] });
	assert.ok(readLines(file).every((line) => line !== null));
	assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
	const session = await SessionManager.open(file);
	assert.equal(session.getLoadReport().skippedCount, 0);
	return { session, acknowledged };
}

describe("several processes on one session", () => {
	test("two that append lose nothing and double nothing", async () => {
		await together(2, 200, "append,append,append,pause");
	});

	test("eight that append lose nothing and double nothing", async () => {
		await together(8, 60, "append,append,append,pause,refresh");
	});

	test("five that append, rename, edit and flush lose nothing and double nothing", async () => {
		const { session, acknowledged } = await together(5, 80, "append,append,append,rename,edit,flush,refresh,pause");
		const edits = new Map(acknowledged.filter((line) => line.edited).map((line) => [line.edited, line.call]));
		for (const [id, call] of edits) assert.equal(session.getEntry(id).message.edited, call);
	});
});
