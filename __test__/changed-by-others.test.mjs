import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, idsOf, text, user } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

async function open(name = "s/one.jsonl") {
	return SessionManager.open(at(name));
}

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
