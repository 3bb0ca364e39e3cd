/** Session ids: milliseconds since 2015 in the high 42 bits, a sequence in the low 22. */

const { randomInt } = require("node:crypto");

const EPOCH_MS = Date.UTC(2015, 0, 1);
const SEQUENCE_BITS = 22n;
const SEQUENCES = 1n << SEQUENCE_BITS;

let last = 0n;
let sequence = BigInt(randomInt(1 << 22));

/**
 * The next id, 16 lower-case hex digits. Each is greater than the one before, whatever the clock
 * does.
 * @param {number} [nowMs] milliseconds since 1970
 */
function nextSessionId(nowMs = Date.now()) {
	const now = BigInt(Math.max(0, Math.floor(nowMs) - EPOCH_MS));
	let time = last >> SEQUENCE_BITS;
	sequence = (sequence + 1n) % SEQUENCES;
	if (now > time) {
		time = now;
	} else if ((time << SEQUENCE_BITS) + sequence <= last) {
		// The sequence went round within one millisecond, or the clock went back: time moves on.
		time += 1n;
	}
	last = (time << SEQUENCE_BITS) + sequence;
	return last.toString(16).padStart(16, "0");
}

module.exports = { nextSessionId };
