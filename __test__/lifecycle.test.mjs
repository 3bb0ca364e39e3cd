import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, HEADER, idsOf, text, toolResult, user } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

async function open(name = "s/one.jsonl") {
	return SessionManager.open(at(name));
}

describe("flush and close", () => {
	test("wait for everything queued, in order", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(assistant("start"));
		for (let number = 0; number < 300; number++) session.appendMessage(toolResult(`n ${number}`));
		await session.close();
		const again = await SessionManager.open(session.getSessionFile());
		assert.deepEqual(
			again
				.getEntries()
				.slice(1)
				.map((entry) => entry.message.content[0].text),
			Array.from({ length: 300 }, (_, number) => `n ${number}`),
		);
	});

	test("a one-turn session is kept when it is closed at once", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		session.appendMessage(assistant("answer"));
		await session.close();
		assert.equal(readLines(session.getSessionFile()).length, 3);
	});

	test("a manager goes on after close", async () => {
		write("s/one.jsonl", text(...conversation()));
		const session = await open();
		await session.close();
		session.appendMessage(user("five"));
		assert.equal(session.getEntries()[0].message.content, "one");
		await session.setSessionName("Name");
		await session.close();
		await session.close();
		assert.equal(readLines(session.getSessionFile()).length, 6);
	});

	test("close without a file does nothing", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		await session.close();
		assert.equal(fs.existsSync(session.getSessionFile()), false);
		assert.equal(session.getEntries().length, 1);
	});

	test("bodies are read after close as long as the file is there", async () => {
		write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const entries = session.getEntries();
		await session.close();
		assert.equal(entries[3].message.content[0].text, "four");
	});
});

describe("ensureOnDisk", () => {
	test("writes the file without an answer, and appends then follow at once", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		await session.ensureOnDisk();
		assert.equal(readLines(session.getSessionFile()).length, 2);
		session.appendMessage(user("more"));
		assert.equal(readLines(session.getSessionFile()).length, 3);
		session.appendMessage(assistant("answer"));
		await session.ensureOnDisk();
		await session.close();
		assert.equal(readLines(session.getSessionFile()).length, 4);
	});
});

describe("two managers on one file", () => {
	test("lose nothing of each other's and see it after refresh", async () => {
		write("s/one.jsonl", text(...conversation()));
		const [a, b] = [await open(), await open()];
		const ids = [];
		for (let round = 0; round < 10; round++) {
			ids.push(a.appendMessage(assistant(`a${round}`)), b.appendMessage(assistant(`b${round}`)));
		}
		const again = await open();
		assert.deepEqual(idsOf(again.getEntries()).slice(4), ids);
		assert.equal(await a.refresh(), 1);
		assert.equal(await b.refresh(), 0);
		assert.deepEqual(idsOf(a.getEntries()).sort(), idsOf(again.getEntries()).sort());
		assert.equal(a.getEntry(ids[1]).message.content[0].text, "b0");
		assert.equal(a.getLeafId(), ids.at(-2));
		assert.equal(b.getLeafId(), ids.at(-1));
	});

	test("a rewrite of one keeps what the other appended", async () => {
		write("s/one.jsonl", text(...conversation()));
		const [a, b] = [await open(), await open()];
		const id = b.appendMessage(assistant("by b"));
		await a.setSessionName("from a");
		a.getEntries()[0].message.content = "edited";
		await a.rewriteEntries();
		const again = await open();
		assert.equal(again.getEntry(id).message.content[0].text, "by b");
		assert.deepEqual([again.getSessionName(), again.getEntries()[0].message.content], ["from a", "edited"]);
	});

	test("one goes on in the file that the other put in place", async () => {
		write("s/one.jsonl", text(...conversation()));
		const [a, b] = [await open(), await open()];
		const kept = b.getEntries();
		await a.setSessionName("from a");
		const id = b.appendMessage(assistant("by b"));
		await a.refresh();
		assert.equal(a.getEntry(id).message.content[0].text, "by b");
		assert.equal(readLines(b.getSessionFile())[0].title, "from a");
		assert.deepEqual(
			b
				.getEntries()
				.slice(0, 4)
				.map((entry, index) => entry === kept[index]),
			[true, true, true, true],
		);
		assert.equal(b.getEntries()[2].message.content, "three");
	});

	test("rewrites of both in turn lose nothing", async () => {
		write("s/one.jsonl", text(...conversation()));
		const [a, b] = [await open(), await open()];
		for (let round = 0; round < 5; round++) {
			a.appendMessage(assistant(`a${round}`));
			await b.setSessionName(`b${round}`);
			b.appendMessage(assistant(`b${round}`));
			await a.setSessionName(`a${round}`);
		}
		await Promise.all([a.close(), b.close()]);
		const again = await open();
		const texts = again
			.getEntries()
			.slice(4)
			.map((entry) => entry.message.content[0].text);
		assert.deepEqual(texts, ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"]);
	});
});

describe("errors of the system", () => {
	test("do not latch: what could not be written is written when the cause is gone", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("one"));
		session.appendMessage(assistant("two"));
		fs.rmSync(at("s"), { recursive: true });
		fs.writeFileSync(at("s"), "in the way");
		let failed;
		assert.throws(
			() => session.appendMessage(assistant("three")),
			(error) => {
				failed = error;
				return typeof error.code === "string" && typeof error.path === "string";
			},
		);
		assert.equal(session.getLeafId(), failed.entryId);
		assert.equal(session.getEntries().length, 3);
		await assert.rejects(session.flush(), { code: failed.code });
		fs.rmSync(at("s"));
		const id = session.appendMessage(assistant("four"));
		await session.flush();
		assert.deepEqual(idsOf(readLines(session.getSessionFile()).slice(-2)), [failed.entryId, id]);
		assert.equal(readLines(session.getSessionFile()).length, 5);
	});

	test("a failed rewrite leaves the file and no temporary one", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.mkdirSync(at("t/one.jsonl"), { recursive: true });
		session.getEntries()[0].message.bad = 1n;
		await assert.rejects(session.rewriteEntries());
		delete session.getEntries()[0].message.bad;
		assert.deepEqual(fs.readdirSync(path.dirname(file)), ["one.jsonl"]);
		await session.setSessionName("Name");
		assert.deepEqual(fs.readdirSync(path.dirname(file)), ["one.jsonl"]);
	});
});

describe("files", () => {
	test("that are symbolic links stay links, and what they point to is written", async () => {
		const real = write("real/one.jsonl", text(...conversation()));
		fs.mkdirSync(at("s"));
		fs.symlinkSync(real, at("s/one.jsonl"));
		const session = await open();
		session.appendMessage(user("five"));
		await session.setSessionName("Name");
		assert.equal(fs.lstatSync(at("s/one.jsonl")).isSymbolicLink(), true);
		assert.equal(readLines(real)[0].title, "Name");
		assert.equal(readLines(real).length, 6);
	});

	test("keep their mode through a rewrite", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		fs.chmodSync(file, 0o640);
		const session = await open();
		await session.setSessionName("Name");
		assert.equal(fs.statSync(file).mode & 0o777, 0o640);
	});

	test("with a title line before the header take the new title in its place", async () => {
		const slot = (title) => {
			const line = JSON.stringify({ type: "title", v: 1, title, source: "auto", updatedAt: HEADER.timestamp, pad: "" });
			return `${line.slice(0, -2)}${" ".repeat(255 - Buffer.byteLength(line))}"}\n`;
		};
		const file = write("s/one.jsonl", slot("Old") + text({ ...HEADER, title: "Header" }, ...conversation().slice(1)));
		const session = await open();
		assert.equal(session.getSessionName(), "Old");
		const { ino } = fs.statSync(file);
		await session.setSessionName("New name");
		assert.equal(fs.statSync(file).ino, ino);
		const [line] = fs.readFileSync(file, "utf8").split("\n");
		assert.equal(Buffer.byteLength(line), 255);
		assert.deepEqual([JSON.parse(line).title, JSON.parse(line).source], ["New name", "user"]);
		assert.equal((await open()).getSessionName(), "New name");
		const long = "long ".repeat(100);
		await session.setSessionName(long);
		const [cut, header] = readLines(file);
		assert.equal(Buffer.byteLength(fs.readFileSync(file, "utf8").split("\n")[0]), 255);
		assert.equal(long.startsWith(cut.title), true);
		assert.equal(header.title, long);
		assert.equal(readLines(file).length, 6);
	});
});
