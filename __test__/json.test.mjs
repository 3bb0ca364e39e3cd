/** What JavaScript sees of odd JSON is what `JSON.parse` of the line gives. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadEntriesFromFile, parseSessionEntries, SessionManager } from "../index.mjs";
import { HEADER, text } from "./support/lines.mjs";
import { freshPlaces, write } from "./support/place.mjs";

freshPlaces();

describe("a value", () => {
	for (const [name, value] of [
		["half pairs", '"\\ud83d x \\udc00"'],
		["escapes", '"\\u00e9\\/\\b\\f\\n\\r\\t\\"\\\\"'],
		["numbers", "[1e3,1E-2,-0,0.1,12345678901234567890,1.0,1e400]"],
		["repeated keys", '{"a":1,"b":2,"a":{"c":3}}'],
		["a key named __proto__", '{"__proto__":{"admin":true},"constructor":1}'],
		["integer-like keys", '{"10":1,"2":2,"a":3,"1":4}'],
		["a depth of 200", `${"[".repeat(200)}${"]".repeat(200)}`],
		["white space", '[ 1 ,\t{ "a" : null } ]'],
		["other scripts", '"日本 \u{1f9ea} \ufffd"'],
	]) {
		test(`of ${name} is what JSON.parse gives`, async () => {
			const expected = JSON.parse(value);
			const lines = [
				`{"type":"custom","id":"00000001","parentId":null,"timestamp":"2024-12-03T14:00:01.000Z","customType":"x","data":${value}}`,
				`{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"user","content":"","data":${value}}}`,
			];
			const file = write("s/one.jsonl", text(HEADER, ...lines));
			const session = await SessionManager.open(file);
			assert.deepEqual(session.getEntry("00000001").data, expected);
			assert.deepEqual(session.getEntry("00000002").message.data, expected);
			assert.equal(JSON.stringify(session.buildSessionContext().messages[0].data), JSON.stringify(expected));
			assert.deepEqual(parseSessionEntries(text(HEADER, ...lines))[1].data, expected);
		});
	}
});

describe("an odd envelope", () => {
	const REST = '"parentId":null,"timestamp":"2024-12-03T14:00:01.000Z"';
	for (const [name, line] of [
		["escaped keys", `{"\\u0074ype":"custom","\\u0069d":"00000001",${REST},"customType":"x"}`],
		["an escaped id", `{"type":"custom","id":"\\u0061\\/b",${REST},"customType":"x"}`],
		["a repeated id", `{"type":"custom","id":"first","id":"second",${REST},"customType":"x"}`],
		["a repeated type", `{"type":"message","id":"00000001",${REST},"customType":"x","type":"custom"}`],
		["a repeated message", `{"type":"message","id":"00000001",${REST},"message":{"role":"user"},"message":null}`],
		["another order of keys", `{"customType":"x",${REST},"id":"00000001","type":"custom"}`],
		["integer-like keys", `{"type":"custom","id":"00000001",${REST},"customType":"x","7":1,"3":2}`],
		["a key named __proto__", `{"type":"custom","id":"00000001",${REST},"customType":"x","__proto__":{"id":"no"}}`],
		["a key named toJSON", `{"type":"custom","id":"00000001",${REST},"customType":"x","toJSON":"x"}`],
		["an empty key", `{"type":"custom","id":"00000001",${REST},"customType":"x","":{"":0}}`],
		["white space", ` {\t"type" : "custom" , "id" : "00000001" , ${REST} , "customType" : "x" } `],
		["half a pair in the id", `{"type":"custom","id":"\\udc00x",${REST},"customType":"x"}`],
		[
			"a time of another form",
			'{"type":"message","id":"00000001","parentId":null,"timestamp":"2024-12-03","message":{}}',
		],
		["a number for a time", '{"type":"message","id":"00000001","parentId":null,"timestamp":1e3,"message":{}}'],
		["keys behind the message", `{"type":"message","id":"00000001",${REST},"message":{"role":"user"},"more":-0}`],
	]) {
		test(`with ${name} is what JSON.parse gives, under its id`, async () => {
			const expected = JSON.parse(line);
			const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, line)));
			const [entry] = session.getEntries();
			assert.deepEqual(Object.keys(entry), Object.keys(expected));
			for (const key of Object.keys(expected)) assert.deepEqual(entry[key], expected[key]);
			assert.equal(session.getEntry(expected.id), entry);
			assert.equal(session.getLeafId(), expected.id);
			assert.deepEqual(parseSessionEntries(text(line)), [expected]);
			assert.deepEqual((await loadEntriesFromFile(session.getSessionFile()))[1], expected);
		});
	}

	test("with what JSON.parse refuses is no entry", async () => {
		const lines = [
			`{"type":"custom","id":"a",${REST},}`,
			`{"type":"custom","id":"b",${REST},"n":01}`,
			`{"type":"custom","id":"c",${REST},"n":+1}`,
			`{"type":"custom","id":"d",${REST},"n":.5}`,
			`{"type":"custom","id":"e",${REST},"n":NaN}`,
			`{"type":"custom","id":"f",${REST},"s":"\u0007"}`,
			`{"type":"custom","id":"g",${REST},"s":"\\x41"}`,
			`{"type":"custom","id":"h",${REST},'s':1}`,
			`{"type":"custom","id":"i",${REST},"s":tru}`,
			`{"type":"custom","id":"j",${REST} "s":1}`,
			`{"type":"custom","id":"k",${REST},"s":"\\u12g4"}`,
		];
		for (const line of lines) assert.throws(() => JSON.parse(line), SyntaxError);
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, ...lines)));
		assert.deepEqual(session.getEntries(), []);
		assert.equal(session.getLoadReport().skippedCount, lines.length);
		assert.deepEqual(parseSessionEntries(text(...lines)), []);
	});
});
