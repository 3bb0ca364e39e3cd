import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, idsOf, messageLine, text, user } from "./support/lines.mjs";
import { freshPlaces, write } from "./support/place.mjs";

freshPlaces();

async function open(...lines) {
	return SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
}

/** The same for more lines than a call takes arguments. */
async function openAll(lines) {
	return SessionManager.open(
		write("s/one.jsonl", [HEADER, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("")),
	);
}

/** `id(children…)` of every root. */
function shape(nodes) {
	return nodes
		.map((node) => (node.children.length > 0 ? `${node.entry.id}(${shape(node.children)})` : node.entry.id))
		.join(" ");
}

function custom(id, parentId, timestamp = "2024-12-03T14:00:00.000Z") {
	return { type: "custom", id, parentId, timestamp, customType: "x" };
}

describe("navigation", () => {
	test("the leaf moves with appends, branch and resetLeaf", () => {
		const session = SessionManager.inMemory("/srv");
		assert.equal(session.getLeafId(), null);
		assert.equal(session.getLeafEntry(), undefined);
		const one = session.appendMessage(user("one"));
		const two = session.appendMessage(assistant("two"));
		assert.equal(session.getLeafId(), two);
		assert.equal(session.getLeafEntry(), session.getEntry(two));
		session.branch(one);
		assert.equal(session.getLeafId(), one);
		const other = session.appendMessage(assistant("other"));
		assert.equal(session.getEntry(other).parentId, one);
		session.resetLeaf();
		assert.equal(session.getLeafId(), null);
		assert.deepEqual(session.getBranch(), []);
		const root = session.appendMessage(user("again"));
		assert.equal(session.getEntry(root).parentId, null);
		assert.deepEqual(idsOf(session.getChildren(null)), [one, root]);
	});

	test("getBranch goes from the root to the entry", () => {
		const session = SessionManager.inMemory("/srv");
		const ids = [user("1"), assistant("2"), user("3")].map((message) => session.appendMessage(message));
		assert.deepEqual(idsOf(session.getBranch()), ids);
		assert.deepEqual(idsOf(session.getBranch(ids[1])), ids.slice(0, 2));
		assert.deepEqual(session.getBranch("unknown"), []);
		assert.deepEqual(session.getBranch(""), []);
		assert.deepEqual(idsOf(session.getBranch(null)), ids);
	});

	test("an unknown id throws and changes nothing", async () => {
		const session = await open(...conversation().slice(1));
		const expected = { code: "ERR_ENTRY_NOT_FOUND", message: "Entry nope not found" };
		assert.throws(() => session.branch("nope"), expected);
		assert.throws(() => session.branchWithSummary("nope", "s"), expected);
		assert.throws(() => session.appendLabelChange("nope", "x"), expected);
		assert.throws(() => session.createBranchedSession("nope"), expected);
		assert.equal(session.getEntry("nope"), undefined);
		assert.deepEqual(session.getChildren("nope"), []);
		assert.equal(session.getLeafId(), "00000004");
		assert.equal(session.getEntries().length, 4);
	});

	test("children are in file order, and in the tree in order of time", async () => {
		const session = await open(
			custom("root", null),
			custom("late", "root", "2024-12-03T14:00:09.000Z"),
			custom("early", "root", "2024-12-03T14:00:01.000Z"),
			custom("same", "root", "2024-12-03T14:00:01.000Z"),
		);
		assert.deepEqual(idsOf(session.getChildren("root")), ["late", "early", "same"]);
		assert.equal(shape(session.getTree()), "root(early same late)");
	});

	test("roots are in file order, whatever their time", async () => {
		const session = await open(
			custom("b", null, "2024-12-03T14:00:09.000Z"),
			custom("a", null, "2024-12-03T14:00:01.000Z"),
		);
		assert.equal(shape(session.getTree()), "b a");
	});

	test("an entry with an unreadable time keeps its place in the file", async () => {
		const session = await open(
			custom("root", null),
			custom("one", "root", "2024-12-03T14:00:01.000Z"),
			custom("bad", "root", "some day"),
			custom("two", "root", "2024-12-03T14:00:02.000Z"),
		);
		assert.equal(shape(session.getTree()), "root(one bad two)");
	});

	test("a branch in a file shows both ways", async () => {
		const session = await open(
			...conversation().slice(1),
			entry(5, "branch_summary", { fromId: "00000002", summary: "left" }, { parentId: "00000002" }),
			messageLine(6, user("new"), { parentId: "00000005" }),
		);
		assert.equal(shape(session.getTree()), "00000001(00000002(00000003(00000004) 00000005(00000006)))");
		assert.deepEqual(idsOf(session.getBranch()), ["00000001", "00000002", "00000005", "00000006"]);
	});
});

describe("broken links", () => {
	test("an orphan is a root and nothing is dropped", async () => {
		const session = await open(custom("a", null), custom("lost", "gone"), custom("b", "lost"));
		assert.equal(shape(session.getTree()), "a lost(b)");
		assert.deepEqual(idsOf(session.getBranch("b")), ["lost", "b"]);
		assert.equal(session.getEntry("lost").parentId, "gone");
		assert.deepEqual(idsOf(session.getChildren(null)), ["a", "lost"]);
	});

	test("a parent may stand later in the file", async () => {
		const session = await open(custom("child", "parent"), custom("parent", null));
		assert.equal(shape(session.getTree()), "parent(child)");
	});

	test("a self-reference is a root", async () => {
		const session = await open(custom("a", "a"), custom("b", "a"));
		assert.equal(shape(session.getTree()), "a(b)");
		assert.deepEqual(idsOf(session.getBranch("a")), ["a"]);
	});

	test("of a cycle the first entry in the file is the root, and every walk ends", async () => {
		const session = await open(custom("a", "c"), custom("b", "a"), custom("c", "b"), custom("d", "c"));
		assert.equal(shape(session.getTree()), "a(b(c(d)))");
		for (const id of ["a", "b", "c", "d"]) {
			const branch = idsOf(session.getBranch(id));
			assert.equal(new Set(branch).size, branch.length);
		}
		assert.equal(session.buildSessionContext().messages.length, 0);
		assert.equal(session.getEntry("a").parentId, "c");
	});

	test("of entries with one id the last is found and none is dropped", async () => {
		const session = await open(custom("a", null), { ...custom("a", null), customType: "second" }, custom("b", "a"));
		assert.equal(session.getEntry("a").customType, "second");
		assert.equal(session.getEntries().length, 3);
		assert.deepEqual(
			session.getBranch("b").map((item) => item.customType),
			["second", "x"],
		);
	});

	test("a hundred thousand entries in a chain are walked", async () => {
		const lines = Array.from({ length: 100_000 }, (_, at) =>
			custom(at.toString(16).padStart(8, "0"), at ? (at - 1).toString(16).padStart(8, "0") : null),
		);
		const session = await openAll(lines);
		assert.equal(session.getBranch().length, 100_000);
		let depth = 0;
		for (let nodes = session.getTree(); nodes.length > 0; nodes = nodes[0].children) depth++;
		assert.equal(depth, 100_000);
	});

	test("a hundred thousand children of one entry are listed", async () => {
		const children = Array.from({ length: 100_000 }, (_, at) => custom(at.toString(16).padStart(8, "0"), "root"));
		const session = await openAll([custom("root", null), ...children]);
		assert.equal(session.getChildren("root").length, 100_000);
		assert.equal(session.getTree()[0].children.length, 100_000);
	});
});

describe("arrays", () => {
	test("are fresh at every call", async () => {
		const session = await open(...conversation().slice(1));
		for (const get of [
			() => session.getEntries(),
			() => session.getBranch(),
			() => session.getChildren(null),
			() => session.getTree(),
		]) {
			const first = get();
			const length = first.length;
			first.push("mine");
			assert.equal(get().length, length);
		}
	});
});
