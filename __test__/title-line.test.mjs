import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { getRecentSessions, MemorySessionStorage, SessionManager } from "../index.mjs";
import { conversation, HEADER, idsOf, text } from "./support/lines.mjs";
import { at, freshPlaces, write } from "./support/place.mjs";

freshPlaces();

const FILE = () => at("s/one.jsonl");
const BODY = text({ ...HEADER, title: "Header" }, ...conversation().slice(1));

function titleLine(fields, length = 255) {
	const line = JSON.stringify({ type: "title", v: 1, title: "Slot", ...fields, updatedAt: HEADER.timestamp, pad: "" });
	return `${line.slice(0, -2)}${" ".repeat(Math.max(0, length - line.length))}"}`;
}

const LINES = {
	"without a source": `${titleLine({})}\n`,
	"with members behind its padding": `${titleLine({}).slice(0, -18)}","x":{"y":[1.0]}}\n`,
	"that ends in spaces": `${titleLine({}, 200).padEnd(255)}\n`,
	"that is shorter": `${titleLine({}, 0)}\n`,
	"that is longer": `${titleLine({ source: "auto", x: "x".repeat(300) })}\n`,
	"that ends in CRLF": `${titleLine({})}\r\n`,
	"behind a byte order mark": `\ufeff${titleLine({})}\n`,
	"on one line with the header": titleLine({}),
	"behind an unreadable line, before another one": `oops\n${titleLine({})}\n${titleLine({ title: "Other" })}\n`,
};

/** The name of the session everywhere it is shown. */
async function names(file = FILE()) {
	const session = await SessionManager.open(file);
	const info = (await SessionManager.list("/srv/garden", at("s"))).find((found) => found.path === file);
	const recent = (await getRecentSessions(at("s"), 9)).find((found) => found.path === file);
	assert.deepEqual(idsOf(session.getEntries()), idsOf(conversation().slice(1)));
	await session.close();
	return [session.getSessionName(), info.title, recent.fullName];
}

describe("a title line", () => {
	for (const [kind, line] of Object.entries(LINES)) {
		test(`${kind} names the session and takes a new name, again and again`, async () => {
			write("s/one.jsonl", line + BODY);
			assert.deepEqual(await names(), ["Slot", "Slot", "Slot"]);
			for (const name of ["New", "Newer \u00fc", "N"]) {
				const session = await SessionManager.open(FILE());
				await session.setSessionName(name);
				await session.close();
				assert.deepEqual(await names(), [name, name, name]);
			}
			const session = await SessionManager.open(FILE());
			await session.setSessionName("First");
			await session.setSessionName("Second");
			const { newSessionFile } = await session.fork();
			await session.setSessionName("Fork");
			await session.close();
			assert.deepEqual(await names(), ["Second", "Second", "Second"]);
			assert.deepEqual(await names(newSessionFile), ["Fork", "Fork", "Fork"]);
		});
	}

	test("keeps its length and what it does not know when the name changes", async () => {
		write("s/one.jsonl", LINES["with members behind its padding"] + BODY);
		const session = await SessionManager.open(FILE());
		const { ino, size } = fs.statSync(FILE());
		await session.setSessionName("New");
		await session.close();
		assert.deepEqual([fs.statSync(FILE()).ino, fs.statSync(FILE()).size], [ino, size]);
		assert.ok(fs.readFileSync(FILE(), "utf8").split("\n")[0].includes('"x":{"y":[1.0]}'));
	});

	test("that is longer keeps what is not known", async () => {
		write("s/one.jsonl", LINES["that is longer"] + BODY);
		const session = await SessionManager.open(FILE());
		await session.setSessionName("New");
		await session.close();
		assert.equal(JSON.parse(fs.readFileSync(FILE(), "utf8").split("\n")[0]).x.length, 300);
	});

	test("in a storage object takes a new name", async () => {
		const storage = new MemorySessionStorage();
		await storage.writeText(FILE(), LINES["without a source"] + BODY);
		for (const name of ["New", "Newer"]) {
			const session = await SessionManager.open(FILE(), null, storage);
			await session.setSessionName(name);
			await session.close();
			assert.equal((await SessionManager.open(FILE(), null, storage)).getSessionName(), name);
		}
	});
});
