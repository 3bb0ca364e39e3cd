/** The functions that work on plain arrays of entries, on texts and on files. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	buildSessionContext,
	getLatestCompactionEntry,
	loadEntriesFromFile,
	MemorySessionStorage,
	migrateSessionEntries,
	parseSessionEntries,
	SessionManager,
} from "../index.mjs";
import {
	assistant,
	conversation,
	EMPTY_CONTEXT,
	entry,
	HEADER,
	HEADER_1,
	idsOf,
	messageLine,
	text,
	textsOf,
	time,
	user,
	VERSION_1,
} from "./support/lines.mjs";
import { at, freshPlaces, write } from "./support/place.mjs";

freshPlaces();

async function open(...lines) {
	return SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
}

describe("buildSessionContext of plain entries", () => {
	const entries = conversation().slice(1);

	test("takes the last entry for an unknown or missing leaf, and nothing for null", () => {
		for (const leaf of [undefined, "unknown", ""]) assert.equal(buildSessionContext(entries, leaf).messages.length, 4);
		assert.equal(buildSessionContext(entries, "00000002").messages.length, 2);
		assert.deepEqual(buildSessionContext(entries, null), EMPTY_CONTEXT);
	});

	test("lets byId decide which entry an id means", () => {
		const other = messageLine(2, assistant("other"));
		const byId = new Map([...entries.map((item) => [item.id, item]), ["00000002", other]]);
		assert.deepEqual(textsOf(buildSessionContext(entries, "00000003", byId).messages), ["one", "other", "three"]);
		assert.deepEqual(textsOf(buildSessionContext(entries, undefined, new Map()).messages), ["four"]);
	});

	test("gives what the method gives", async () => {
		const session = await open(
			...entries,
			entry(5, "compaction", { summary: "s", firstKeptEntryId: "00000003", tokensBefore: 1 }),
		);
		assert.deepEqual(buildSessionContext(session.getEntries(), session.getLeafId()), session.buildSessionContext());
	});

	test("shares the messages of the entries", () => {
		assert.equal(buildSessionContext(entries).messages[0], entries[0].message);
	});

	test("reads odd entries without an error", () => {
		const odd = [
			null,
			7,
			{},
			{ type: "message" },
			{ type: "message", id: "m", parentId: 4, message: null },
			{ type: "custom_message", id: "c", parentId: "m", timestamp: "?" },
		];
		const context = buildSessionContext(odd, "c");
		assert.equal(context.messages.length, 1);
		assert.equal(context.messages[0].content, "");
	});

	test("changes nothing in what it is given, and walks long chains, circles and orphans", () => {
		const chain = Array.from({ length: 20_000 }, (_, at) => messageLine(at + 1, user(`${at}`)));
		assert.equal(buildSessionContext(chain).messages.length, 20_000);
		const odd = [
			messageLine(1, user("a"), { parentId: "00000002" }),
			messageLine(2, user("b"), { parentId: "00000001" }),
			messageLine(3, user("orphan"), { parentId: "gone" }),
			messageLine(4, user("self"), { parentId: "00000004" }),
		];
		const before = structuredClone(odd);
		assert.deepEqual(textsOf(buildSessionContext(odd, "00000002").messages), ["a", "b"]);
		assert.deepEqual(textsOf(buildSessionContext(odd, "00000003").messages), ["orphan"]);
		assert.deepEqual(textsOf(buildSessionContext(odd, "00000004").messages), ["self"]);
		assert.deepEqual(odd, before);
	});

	test("takes entries that were never in a file", () => {
		const entries = [
			{ type: "model_change", id: "a", parentId: null, timestamp: time(1), model: "p/m", role: "smol" },
			{ type: "message", id: "b", parentId: "a", timestamp: time(2), message: user("one") },
			{ type: "compaction", id: "c", parentId: "b", timestamp: time(3), summary: "s", firstKeptEntryId: "b" },
			{ type: "thinking_level_change", id: "d", parentId: "c", timestamp: time(4), thinkingLevel: "low" },
		];
		const { messages, models, thinkingLevel } = buildSessionContext(entries);
		assert.deepEqual([textsOf(messages), models, thinkingLevel], [["s", "one"], { smol: "p/m" }, "low"]);
	});
});

describe("migrateSessionEntries", () => {
	test("upgrades arrays in place as the file is upgraded", () => {
		const entries = structuredClone(VERSION_1);
		migrateSessionEntries(entries);
		assert.equal(entries[0].version, 3);
		assert.deepEqual(
			entries.slice(1).map((entry) => entry.parentId),
			[null, ...idsOf(entries.slice(1, 4))],
		);
		assert.equal(entries[3].firstKeptEntryId, entries[2].id);
		assert.equal("firstKeptEntryIndex" in entries[3], false);
		assert.equal(entries[4].message.role, "custom");
	});

	test("leaves version 3 and above alone", () => {
		for (const version of [3, 4]) {
			const entries = [{ ...HEADER, version }, messageLine(1, user("one"))];
			const before = structuredClone(entries);
			migrateSessionEntries(entries);
			assert.deepEqual(entries, before);
		}
	});

	test("turns hook messages of version 2 into custom ones and leaves ids alone", () => {
		const hook = messageLine(2, { role: "hookMessage", customType: "h", content: "hook", display: true, timestamp: 1 });
		const entries = [{ ...HEADER, version: 2 }, messageLine(1, user("one")), hook];
		migrateSessionEntries(entries);
		assert.deepEqual(
			[entries[0].version, hook.message.role, hook.id, hook.parentId],
			[3, "custom", "00000002", "00000001"],
		);
	});

	test("gives equal entries ids of their own, the same ones each time", () => {
		const same = { type: "message", timestamp: time(1), message: user("same") };
		const lists = [1, 2].map(() => [{ ...HEADER_1 }, { ...same }, { ...same }, { ...same }]);
		for (const list of lists) migrateSessionEntries(list);
		assert.equal(new Set(idsOf(lists[0].slice(1))).size, 3);
		assert.deepEqual(lists[0], lists[1]);
	});
});

describe("parseSessionEntries", () => {
	test("gives header and entries, and a text without a header too", () => {
		assert.deepEqual(parseSessionEntries(text(...conversation())), conversation());
		assert.deepEqual(parseSessionEntries(text(...conversation().slice(1))), conversation().slice(1));
		assert.deepEqual(parseSessionEntries(""), []);
		assert.deepEqual(parseSessionEntries(" \n\r\n"), []);
	});

	test("leaves out what cannot be read, and reads on behind it", () => {
		const [header, one, two] = conversation();
		assert.deepEqual(parseSessionEntries(text(header, "{cut", one, "stray", two)), [header, one, two]);
		assert.deepEqual(parseSessionEntries(`${text(header, one)}{"type":"mess`), [header, one]);
	});

	test("reads CRLF, a last line without its newline and several objects on a line", () => {
		const lines = conversation();
		assert.deepEqual(parseSessionEntries(text(...lines).replaceAll("\n", "\r\n")), lines);
		assert.deepEqual(parseSessionEntries(text(...lines).trimEnd()), lines);
		assert.deepEqual(parseSessionEntries(lines.map((line) => JSON.stringify(line)).join("")), lines);
	});

	test("migrates nothing", () => {
		assert.deepEqual(parseSessionEntries(text(...VERSION_1)), VERSION_1);
	});
});

describe("getLatestCompactionEntry", () => {
	const compaction = (number) => entry(number, "compaction", { summary: `${number}`, tokensBefore: 1 });

	test("gives the last in the array, whatever its time or place in the tree", () => {
		const entries = [compaction(9), messageLine(1, user("x")), compaction(2), messageLine(3, user("y"))];
		assert.equal(getLatestCompactionEntry(entries), entries[2]);
	});

	test("gives null where there is none", () => {
		assert.equal(getLatestCompactionEntry([]), null);
		assert.equal(getLatestCompactionEntry(conversation().slice(1)), null);
	});
});

describe("loadEntriesFromFile", () => {
	test("gives header and entries as they are stored", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		assert.deepEqual(await loadEntriesFromFile(file), conversation());
		assert.deepEqual(await loadEntriesFromFile(at("nothing.jsonl")), []);
		const { version: _, ...old } = HEADER;
		const one = { type: "message", timestamp: HEADER.timestamp, message: { role: "hookMessage" } };
		assert.deepEqual(await loadEntriesFromFile(write("s/v1.jsonl", text(old, one))), [old, one]);
	});

	test("reads the text of a storage object", async () => {
		const storage = new MemorySessionStorage();
		storage.writeTextSync("/store/one.jsonl", text("stray", ...conversation()));
		assert.deepEqual(await loadEntriesFromFile("/store/one.jsonl", storage), conversation());
		assert.deepEqual(await loadEntriesFromFile("/store/two.jsonl", storage), []);
		storage.writeTextSync("/store/two.jsonl", text(...conversation().slice(1)));
		assert.deepEqual(await loadEntriesFromFile("/store/two.jsonl", storage), []);
	});

	test("gives nothing of a file without a header", async () => {
		for (const content of ["", " \n", "a log\n", text(...conversation().slice(1))]) {
			assert.deepEqual(await loadEntriesFromFile(write("s/one.jsonl", content)), []);
		}
	});
});
