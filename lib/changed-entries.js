/**
 * Which entry objects differ from what the file holds. Reading an entry must not change its line, so
 * text is compared with text: first with the stored line, then with what a fresh reading of that
 * line would give.
 */

const { isUnread } = require("./lazy-entry.js");
const { stringifyStored } = require("./loaded-entry.js");

/** Entries compared at once. */
const BATCH = 128;

/** Longest stretch of work on the event loop, in milliseconds. */
const SLICE_MS = 20;

function isPlain(value) {
	return typeof value === "object" && value !== null;
}

/** Structural equality without recursion, for values too deep for JSON.stringify. */
function sameValue(left, right) {
	const open = [[left, right]];
	while (open.length > 0) {
		const [a, b] = open.pop();
		if (Object.is(a, b)) continue;
		if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
		const keys = Object.keys(a);
		if (keys.length !== Object.keys(b).length) return false;
		for (const key of keys) {
			if (!Object.hasOwn(b, key)) return false;
			open.push([a[key], b[key]]);
		}
	}
	return true;
}

/** Whether the envelope of an entry whose message nobody read was changed. */
function envelopeChanged(cache, index, entry) {
	const [id, parentId, timestamp] = cache.envelopeAgain(index);
	return (
		Object.keys(entry).length !== 5 ||
		entry.type !== "message" ||
		entry.id !== id ||
		entry.parentId !== parentId ||
		entry.timestamp !== timestamp
	);
}

/** JSON of an entry; `undefined` for one that is too deep for it. */
function textOf(entry) {
	try {
		return stringifyStored(entry);
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw error;
	}
}

function compareBatch(cache, indices, changed) {
	const texts = [];
	const withText = [];
	for (const index of indices) {
		const entry = cache.peek(index);
		if (isUnread(entry)) {
			if (!envelopeChanged(cache, index, entry)) continue;
		}
		const text = textOf(entry);
		if (text === undefined) {
			const [fresh] = cache.readAgain([index]);
			if (fresh === null || sameValue(entry, fresh)) continue;
			throw new RangeError(`Entry ${entry.id} is nested too deeply to be written; the file was left as it is`);
		}
		texts.push(text);
		withText.push(index);
	}
	if (withText.length === 0) return;
	const differing = cache.native.differing(Uint32Array.from(withText), texts);
	if (differing.length === 0) return;
	const fresh = cache.readAgain(differing);
	for (let at = 0; at < differing.length; at++) {
		const index = differing[at];
		const text = texts[withText.indexOf(index)];
		if (fresh[at] !== null && stringifyStored(fresh[at]) === text) continue;
		changed.entries.push(index);
		changed.texts.push(text);
	}
}

function* batches(cache) {
	let batch = [];
	for (const index of cache.made()) {
		batch.push(index);
		if (batch.length === BATCH) {
			yield batch;
			batch = [];
		}
	}
	if (batch.length > 0) yield batch;
}

/** Finds the changed entries at once. */
function changedEntries(cache) {
	const changed = { entries: [], texts: [] };
	for (const batch of batches(cache)) compareBatch(cache, batch, changed);
	return changed;
}

/** Finds the changed entries without holding up the event loop. */
async function changedEntriesInSlices(cache) {
	const { renumberings } = cache;
	const changed = { entries: [], texts: [] };
	let started = performance.now();
	for (const batch of batches(cache)) {
		compareBatch(cache, batch, changed);
		if (performance.now() - started > SLICE_MS) {
			await new Promise((resolve) => setImmediate(resolve));
			// An append in between may have found another file in place of ours.
			if (cache.renumberings !== renumberings) return changedEntriesInSlices(cache);
			started = performance.now();
		}
	}
	return changed;
}

module.exports = { changedEntries, changedEntriesInSlices };
