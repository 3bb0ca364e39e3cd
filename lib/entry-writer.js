/** Appends entries: text to the native session, the object to the cache, both or neither. */

const { argumentError } = require("./error.js");
const { idKey } = require("./entry-cache.js");

/** JSON text of what an entry holds, or a TypeError that says why there is none. */
function payloadText(type, payload) {
	let text;
	try {
		text = JSON.stringify(payload);
	} catch (error) {
		if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
		throw Object.assign(new TypeError(`The ${type} entry cannot be written as JSON: ${error.message}`), {
			code: "ERR_INVALID_ARGUMENT",
			cause: error,
		});
	}
	if (text === undefined || text[0] !== "{") {
		throw argumentError(
			"append",
			type,
			"an object that JSON can hold",
			text === undefined ? typeof payload : text.slice(0, 20),
		);
	}
	return text;
}

/** The line of an entry whose payload is `text`. */
function lineText({ type, id, parentId, timestamp }, text) {
	const envelope = JSON.stringify({ type, id, parentId, timestamp }).slice(0, -1);
	if (type === "message") return `${envelope},"message":${text}}`;
	return text === "{}" ? `${envelope}}` : `${envelope},${text.slice(1)}`;
}

class EntryWriter {
	#on;
	/** The last time and its text: many entries are of one millisecond. */
	#now = Number.NaN;
	#timestamp = "";

	/** @param on what the manager is on: `{ state, persist, … }` */
	constructor(on) {
		this.#on = on;
	}

	/** Moves the leaf to an entry, or before the first one. */
	moveLeaf(id) {
		const { state } = this.#on;
		state.native.branch(id === null ? null : idKey(id));
		state.leafId = id;
		state.cache.leafMoved();
	}

	/**
	 * Adds an entry and returns its id.
	 * @param {string} type
	 * @param {object} payload what is written: the message, or the fields behind the envelope
	 * @param {object} [fields] what the entry object gets besides its envelope
	 * @param {string | null} [from] moves the leaf here first
	 */
	append(type, payload, fields = payload, from = undefined) {
		const { state } = this.#on;
		// Everything that can go wrong with the payload does so before anything has changed.
		const text = payloadText(type, payload);
		state.storageLog?.throwLastError();
		if (from !== undefined) this.moveLeaf(from);
		const now = Date.now();
		const storedBytes = state.storageLog ? state.native.textLength() : 0;
		const { id, index, starts, moved, failure } = this.#write(type, text, now);
		if (now !== this.#now) {
			this.#now = now;
			this.#timestamp = new Date(now).toISOString();
		}
		const timestamp = this.#timestamp;
		if (moved) state.sync();
		// The leaf of a file that was replaced may be gone.
		const parentId = moved ? state.cache.parentIdOf(index) : state.leafId;
		// The common kind is spelt out: copying members costs more than all else here.
		const entry =
			type === "message"
				? { type, id, parentId, timestamp, message: payload }
				: { type, id, parentId, timestamp, ...fields };
		state.cache.add(index, entry);
		state.leafId = id;
		if (state.storageLog) state.storageLog.append(state.native.textFrom(storedBytes));
		if (failure) throw failure;
		if (this.#on.persist && !state.stored) {
			state.pendingTexts[index] = lineText(entry, text);
			if (starts || state.wantsFile) this.#on.startFile();
		}
		return id;
	}

	#write(type, text, now) {
		const { state } = this.#on;
		try {
			const answer = state.native.append(type, text, now, state.cache.count);
			if (answer.length === 8) return { id: answer, index: state.cache.count, starts: false };
			// Every reply of a session in memory would start its file.
			if (answer.length === 9) return { id: answer.slice(0, 8), index: state.cache.count, starts: true };
			const [, id, starts, index] = /^([^!@]+)(!?)(?:@(\d+))?$/.exec(answer);
			const moved = index !== undefined;
			return { id, index: moved ? Number(index) : state.cache.count, starts: starts !== "", moved };
		} catch (error) {
			// With an entry's number the entry is part of the session, and written later.
			if (error.entryIndex === undefined) throw error;
			return { id: error.entryId, index: error.entryIndex, starts: false, moved: true, failure: error };
		}
	}
}

module.exports = { EntryWriter };
