/**
 * Entries whose `message` is read from disk when somebody asks for it.
 *
 * Such an entry is a plain object with the usual keys; `message` is an accessor, the same pair of
 * functions for all entries of a session, until its first use turns it into a data property. The entry's number
 * is stamped on it as a private field, which neither keys, spread nor comparison see.
 */

const { Given } = require("./given.js");

class Stamp extends Given {
	#cache;
	#index;

	constructor(entry, cache, index) {
		super(entry);
		this.#cache = cache;
		this.#index = index;
	}

	static read(entry) {
		try {
			return entry.#cache.readMessage(entry.#index);
		} catch (error) {
			if (error?.code !== "ERR_SESSION_CONFLICT") throw error;
			// Replaced while it was closed: the entry may have another number now.
			entry.#cache.reopen();
			return entry.#cache.readMessage(entry.#index);
		}
	}

	static isStamped(entry) {
		return #cache in entry;
	}

	static move(entry, cache, index) {
		if (!(#cache in entry)) return;
		entry.#cache = cache;
		entry.#index = index;
	}
}

/** Messages of entries that were frozen before they were read. */
const frozen = new WeakMap();

/**
 * V8 turns an accessor into a data property slowly; to take the last property of an object away and add
 * another is fast. JavaScriptCore does the opposite.
 */
const replaces = !process.versions.bun;

function isLast(entry, name) {
	const keys = Object.keys(entry);
	return keys[keys.length - 1] === name;
}

function define(entry, message) {
	if (replaces && Object.isExtensible(entry) && isLast(entry, "message")) {
		if (!Reflect.deleteProperty(entry, "message")) return false;
		entry.message = message;
		return true;
	}
	return Reflect.defineProperty(entry, "message", {
		value: message,
		writable: true,
		enumerable: true,
		configurable: true,
	});
}

/** The getters below, to tell an unread entry by. */
const getters = new WeakSet();

/**
 * The accessor pair for the entries of one cache.
 * @param {{ get(id: string): any }} cache
 */
function messageAccessor(cache) {
	const accessor = {
		enumerable: true,
		configurable: true,
		get() {
			if (typeof this !== "object" || this === null) return undefined;
			// The receiver stands in front of an entry or inherits from one: its id says which.
			if (!Stamp.isStamped(this)) return readById(cache, this);
			if (frozen.has(this)) return frozen.get(this);
			const message = Stamp.read(this);
			if (!define(this, message)) frozen.set(this, message);
			return message;
		},
		set(message) {
			if (typeof this === "object" && this !== null) define(this, message);
		},
	};
	getters.add(accessor.get);
	return accessor;
}

function readById(cache, receiver) {
	return typeof receiver.id === "string" ? cache.get(receiver.id)?.message : undefined;
}

/**
 * @param {string} id
 * @param {string | null} parentId
 * @param {string} timestamp
 * @param {{ readMessage(index: number): unknown }} cache
 * @param {number} index
 * @param {PropertyDescriptor} accessor of {@link messageAccessor}
 */
function lazyEntry(id, parentId, timestamp, cache, index, accessor) {
	const entry = { type: "message", id, parentId, timestamp };
	new Stamp(entry, cache, index);
	// The last of its properties, so that `define` can replace it.
	Object.defineProperty(entry, "message", accessor);
	return entry;
}

/** Whether the entry's message has not been read. */
function isUnread(entry) {
	return (
		Stamp.isStamped(entry) && getters.has(Object.getOwnPropertyDescriptor(entry, "message")?.get) && !frozen.has(entry)
	);
}

/** Puts a message into an entry that is unread. */
function fill(entry, message) {
	if (!define(entry, message)) frozen.set(entry, message);
}

module.exports = { messageAccessor, lazyEntry, isUnread, fill, moveEntry: Stamp.move };
