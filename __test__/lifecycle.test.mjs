import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, idsOf, text, toolResult, user } from "./support/lines.mjs";
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

describe("a file that others rewrote while it was closed", () => {
	/** Everything moves in the file: a longer header, one entry more, another body. */
	function rewrite(file) {
		const [header, one, ...rest] = conversation();
		const more = { type: "custom", id: "0000000f", parentId: null, timestamp: HEADER.timestamp, customType: "x" };
		const changed = { ...one, message: user("one, edited elsewhere") };
		fs.writeFileSync(at("other"), text({ ...header, title: "A title that was not there" }, more, changed, ...rest));
		fs.renameSync(at("other"), file);
	}

	test("is read as it is now, and entries nobody else changed stay the same objects", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const [one, two, three] = session.getEntries();
		assert.equal(two.message.content[0].text, "two");
		await session.close();
		rewrite(file);
		assert.equal(three.message.content, "three");
		assert.equal(session.getEntry("00000001").message.content, "one, edited elsewhere");
		assert.equal(session.getEntry("00000003"), three);
		assert.equal(one.id, "00000001");
		assert.deepEqual(idsOf(session.getEntries()), ["0000000f", "00000001", "00000002", "00000003", "00000004"]);
		assert.equal(session.buildSessionContext().messages.length, 4);
		session.appendMessage(user("five"));
		await session.close();
		assert.equal(readLines(file).length, 7);
	});

	test("is read as it is now, also if it was rewritten in place", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		await session.close();
		const { ino } = fs.statSync(file);
		const [header, ...entries] = conversation();
		const changed = [...entries.slice(0, 3), { ...entries[3], message: assistant("four, edited elsewhere") }];
		fs.writeFileSync(file, text({ ...header, title: "A title that was not there" }, ...changed));
		assert.equal(fs.statSync(file).ino, ino);
		const id = session.appendMessage(user("five"));
		assert.equal(session.getEntry("00000004").message.content[0].text, "four, edited elsewhere");
		assert.deepEqual(idsOf(readLines(file).slice(1)), [...idsOf(entries), id]);
		assert.equal(readLines(file).at(-1).parentId, "00000004");
	});

	test("takes appends and a rename as it is now", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		await session.close();
		rewrite(file);
		const id = session.appendMessage(user("five"));
		assert.equal(session.getEntry(id).parentId, "00000004");
		await session.setSessionName("Ours");
		assert.deepEqual([readLines(file)[0].title, readLines(file).length], ["Ours", 7]);
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

describe("a file changed by others", () => {
	test("lines appended by a program without lock are taken in and kept", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.appendFileSync(file, "a stray remark\n");
		fs.appendFileSync(
			file,
			text({ type: "custom", id: "0000000f", parentId: "00000004", timestamp: HEADER.timestamp, customType: "other" }),
		);
		const id = session.appendMessage(assistant("ours"));
		assert.equal(session.getEntry("0000000f").customType, "other");
		assert.deepEqual(idsOf(session.getEntries()), ["00000001", "00000002", "00000003", "00000004", "0000000f", id]);
		assert.equal(session.getEntry(id).parentId, "00000004");
		assert.ok(fs.readFileSync(file, "utf8").includes("a stray remark\n"));
	});

	test("our leaf stays where it is, in the file and in the context too", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const other = entry(15, "custom_message", { customType: "other", content: "theirs", display: true });
		fs.appendFileSync(file, text(other));
		assert.equal(await session.refresh(), 1);
		assert.equal(session.getLeafId(), "00000004");
		assert.equal(session.buildSessionContext().messages.length, 4);
		session.appendMessage(assistant("ours"));
		assert.equal(readLines(file).at(-1).parentId, "00000004");
		fs.appendFileSync(file, text({ ...other, id: "000000ff" }));
		const leaf = session.getLeafId();
		session.appendMessage(assistant("noticed by an append"));
		assert.equal(readLines(file).at(-1).parentId, leaf);
	});

	test("lines that one without lock still appends to a file that ours replaced are in the new one", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file);
		const kept = fs.openSync(file, "a");
		await session.setSessionName("Replaced");
		for (const [number, next] of ["append", "flush", "close"].entries()) {
			fs.writeSync(kept, `${JSON.stringify(entry(90 + number, "custom", { customType: next }))}\n`);
			if (next === "append") session.appendMessage(user("ours"));
			else await session[next]();
		}
		fs.closeSync(kept);
		const types = readLines(file).map((line) => line.customType);
		for (const next of ["append", "flush", "close"])
			assert.equal(types.filter((type) => type === next).length, 1, next);
	});

	test("a deleted file is written again in full with the next append", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		session.appendMessage(assistant("five"));
		const before = fs.readFileSync(file, "utf8");
		fs.rmSync(file);
		const id = session.appendMessage(assistant("six"));
		const after = fs.readFileSync(file, "utf8");
		assert.equal(after.startsWith(before), true);
		assert.equal(readLines(file).at(-1).id, id);
	});

	test("a deleted directory is made again with the session in it", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.rmSync(at("s"), { recursive: true });
		session.appendMessage(assistant("five"));
		assert.equal(readLines(file).length, 6);
	});

	test("a renamed directory is followed", async () => {
		write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.renameSync(at("s"), at("renamed"));
		session.appendMessage(assistant("five"));
		await session.flush();
		assert.equal(readLines(at("renamed/one.jsonl")).length, 6);
		assert.equal(fs.existsSync(at("s")), false);
		await session.setSessionName("Name");
		assert.equal(readLines(at("renamed/one.jsonl"))[0].title, "Name");
	});

	test("a file replaced from somebody's memory gets back what it lacks of ours", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const ours = [session.appendMessage(assistant("five")), session.appendMessage(assistant("six"))];
		fs.writeFileSync(at("other"), text(...conversation()));
		fs.renameSync(at("other"), file);
		const id = session.appendMessage(assistant("seven"));
		assert.deepEqual(idsOf(readLines(file).slice(5)), [...ours, id]);
		assert.deepEqual(idsOf(session.getBranch()).slice(4), [...ours, id]);
		assert.equal(session.getEntry(ours[0]).message.content[0].text, "five");
	});

	test("a change goes to its entry, also in a file in which the entries have other numbers", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		session.getEntry("00000002").message.content[0].text = "two, changed";
		const [header, ...entries] = conversation();
		const theirs = entry(200, "custom", { customType: "theirs", data: "x".repeat(100) });
		fs.writeFileSync(at("other"), text(header, theirs, ...entries));
		fs.renameSync(at("other"), file);
		await session.rewriteEntries();
		entries[1].message.content[0].text = "two, changed";
		assert.deepEqual(readLines(file).slice(1), [theirs, ...entries]);
		assert.equal(session.getEntry(theirs.id).data, theirs.data);
		assert.equal(session.getEntry("00000003").message.content, "three");
	});

	test("entries in another order are found by an append and keep their objects", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const [one, two] = session.getEntries();
		const [header, ...entries] = conversation();
		fs.writeFileSync(at("other"), text(header, entries[1], entries[0], ...entries.slice(2)));
		fs.renameSync(at("other"), file);
		const id = session.appendMessage(user("five"));
		assert.deepEqual([session.getEntry("00000001"), session.getEntry("00000002")], [one, two]);
		assert.equal(session.getEntry("00000001").message.content, "one");
		assert.equal(session.getEntry("00000001"), one);
		assert.deepEqual(idsOf(session.getEntries()), ["00000002", "00000001", "00000003", "00000004", id]);
	});

	test("an append whose leaf is gone with the file that was replaced hangs where its line says", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.writeFileSync(at("other"), text(...conversation().slice(0, 3)));
		fs.renameSync(at("other"), file);
		const id = session.appendMessage(user("five"));
		const { parentId } = readLines(file).at(-1);
		assert.deepEqual([session.getEntry(id).parentId, parentId], ["00000002", "00000002"]);
	});

	test("a line in a file that several of ours saw replaced is copied once", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const sessions = [await open(), await SessionManager.open(file), await SessionManager.open(file)];
		const kept = fs.openSync(file, "a");
		for (const [number, session] of sessions.entries()) await session.setSessionName(`name ${number}`);
		for (const session of sessions) session.appendMessage(user("ours"));
		fs.writeSync(kept, text(entry(200, "custom", { customType: "theirs" })));
		fs.closeSync(kept);
		for (const session of sessions) await session.close();
		assert.equal(readLines(file).filter((line) => line.customType === "theirs").length, 1);
		assert.equal(readLines(file).length, 9);
	});

	test("another session in the file's place is not written to", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		const other = text({ ...HEADER, id: "another" });
		fs.writeFileSync(at("other"), other);
		fs.renameSync(at("other"), file);
		assert.throws(() => session.appendMessage(assistant("five")), { code: "ERR_SESSION_CONFLICT" });
		assert.equal(fs.readFileSync(file, "utf8"), other);
		await assert.rejects(session.close(), { code: "ERR_SESSION_CONFLICT" });
	});

	test("a file that was cut shorter is not written to", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await open();
		fs.truncateSync(file, 300);
		assert.throws(() => session.appendMessage(assistant("five")), { code: "ERR_SESSION_CONFLICT", path: file });
		assert.equal(fs.statSync(file).size, 300);
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
