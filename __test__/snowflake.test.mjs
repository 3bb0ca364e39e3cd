import assert from "node:assert/strict";
import { test } from "node:test";
import snowflake from "../lib/snowflake.js";

const { nextSessionId } = snowflake;
const EPOCH = Date.UTC(2015, 0, 1);
const time = (id) => Number(BigInt(`0x${id}`) >> 22n) + EPOCH;

test("session ids are 16 lower-case hex digits with the time in the high 42 bits", () => {
	const now = Date.now();
	const id = nextSessionId(now);
	assert.match(id, /^[0-9a-f]{16}$/);
	assert.equal(time(id), now);
	assert.match(nextSessionId(), /^[0-9a-f]{16}$/);
});

test("session ids grow, also while the clock stands still, goes back or is before 2015", () => {
	const start = Date.now() + 1000;
	let last = nextSessionId(start);
	for (let i = 0; i < 3000; i++) {
		const id = nextSessionId([start, start - 5000, 0][i % 3]);
		assert.ok(id > last);
		last = id;
	}
	assert.ok(time(last) - start <= 1);
});
