import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, text, textsOf, user } from "./support/lines.mjs";
import { freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

async function open(...lines) {
	return SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
}

describe("labels", () => {
	test("the last label entry in file order is in force, over all branches", async () => {
		const session = await open(
			...conversation().slice(1),
			entry(5, "label", { targetId: "00000001", label: "first" }),
			entry(6, "label", { targetId: "00000001", label: "second" }, { parentId: "00000001" }),
			entry(7, "label", { targetId: "00000002", label: "gone" }),
			entry(8, "label", { targetId: "00000002" }),
			entry(9, "label", { targetId: "00000003", label: "x" }),
			entry(10, "label", { targetId: "00000003", label: "" }),
			entry(11, "label", { targetId: "00000004", label: "y" }),
			entry(12, "label", { targetId: "00000004", label: null }),
		);
		assert.deepEqual(
			["00000001", "00000002", "00000003", "00000004"].map((id) => session.getLabel(id)),
			["second", undefined, undefined, undefined],
		);
		assert.equal(session.getTree()[0].label, "second");
	});

	test("a label is set, replaced and cleared", () => {
		const session = SessionManager.inMemory("/srv");
		const id = session.appendMessage(user("one"));
		for (const [label, expected] of [
			["a", "a"],
			["b", "b"],
			["", undefined],
			["c", "c"],
			[null, undefined],
			["d", "d"],
			[undefined, undefined],
		]) {
			session.appendLabelChange(id, label);
			assert.equal(session.getLabel(id), expected);
		}
	});

	test("a label is there after reopening, and so is its absence", async () => {
		const session = await open(...conversation().slice(1));
		session.appendLabelChange("00000001", "kept");
		session.appendLabelChange("00000002", "for now");
		session.appendLabelChange("00000002", "");
		await session.close();
		const again = await SessionManager.open(session.getSessionFile());
		assert.deepEqual([again.getLabel("00000001"), again.getLabel("00000002")], ["kept", undefined]);
		assert.deepEqual(
			readLines(session.getSessionFile())
				.slice(5)
				.map((line) => [line.targetId, line.label || undefined]),
			[
				["00000001", "kept"],
				["00000002", "for now"],
				["00000002", undefined],
			],
		);
	});

	test("a label entry is an entry like any other: the leaf, with children, and it may have a label itself", () => {
		const session = SessionManager.inMemory("/srv");
		const target = session.appendMessage(user("one"));
		const label = session.appendLabelChange(target, "a");
		assert.deepEqual([session.getLeafId(), session.getEntry(label).parentId], [label, target]);
		const child = session.appendMessage(assistant("two"));
		assert.equal(session.getEntry(child).parentId, label);
		session.appendLabelChange(label, "of a label");
		assert.equal(session.getLabel(label), "of a label");
		const [{ label: shown, children }] = session.getTree();
		assert.deepEqual([shown, children[0].label, children[0].children[0].label], ["a", "of a label", undefined]);
	});

	test("a label that another manager set comes with refresh", async () => {
		const session = await open(...conversation().slice(1));
		const other = await SessionManager.open(session.getSessionFile());
		other.appendLabelChange("00000001", "theirs");
		assert.equal(session.getLabel("00000001"), undefined);
		await session.refresh();
		assert.equal(session.getLabel("00000001"), "theirs");
		assert.equal(session.getTree()[0].label, "theirs");
	});

	test("an unknown target is refused, and nothing is written", async () => {
		const session = await open(...conversation().slice(1));
		for (const target of ["unknown", "", HEADER.id]) {
			assert.throws(() => session.appendLabelChange(target, "x"), {
				code: "ERR_ENTRY_NOT_FOUND",
				message: `Entry ${target} not found`,
			});
		}
		assert.equal(readLines(session.getSessionFile()).length, 5);
		assert.equal(session.getLeafId(), "00000004");
	});

	test("a label in a file may stand before its target, or have none", async () => {
		const session = await open(
			entry(1, "label", { targetId: "00000002", label: "early" }),
			entry(2, "custom", { customType: "x" }),
			entry(3, "label", { targetId: "gone", label: "lost" }),
		);
		assert.equal(session.getLabel("00000002"), "early");
		assert.equal(session.getLabel("gone"), "lost");
		assert.equal(session.getEntries().length, 3);
	});

	test("a text in any script is kept as it is", async () => {
		const session = await open(...conversation().slice(1));
		for (const label of [" spaces ", "日本 \u{1f9ea}", "two\nlines", "half \ud83d", "__proto__"]) {
			session.appendLabelChange("00000001", label);
			const again = await SessionManager.open(session.getSessionFile());
			assert.deepEqual([session.getLabel("00000001"), again.getLabel("00000001")], [label, label]);
		}
	});

	test("a compaction that keeps what begins with a label keeps the same in a branched session", async () => {
		for (const session of [
			SessionManager.inMemory("/srv/garden"),
			SessionManager.create("/srv/garden"),
			await open(),
		]) {
			const question = session.appendMessage(user("one"));
			session.appendMessage(assistant("two"));
			const label = session.appendLabelChange(question, "here");
			session.appendLabelChange(question, "here again");
			session.appendMessage(user("three"));
			session.appendCompaction("summary", undefined, label, 1);
			session.appendCompaction("second", undefined, label, 1);
			session.appendMessage(assistant("four"));
			const context = textsOf(session.buildSessionContext().messages);
			assert.deepEqual(context, ["second", "three", "four"]);
			const file = session.createBranchedSession(session.getLeafId());
			assert.deepEqual(textsOf(session.buildSessionContext().messages), context);
			const kept = session.getEntries().filter((made) => made.type === "compaction");
			assert.deepEqual(
				kept.map((made) => session.getEntry(made.firstKeptEntryId).message.content),
				["three", "three"],
			);
			if (file === undefined) continue;
			const again = await SessionManager.open(file);
			assert.deepEqual(again.getEntries(), JSON.parse(JSON.stringify(session.getEntries())));
			assert.deepEqual(textsOf(again.buildSessionContext().messages), context);
			await again.setSessionName("Name");
			await Promise.all([session.close(), again.close()]);
		}
	});
});
