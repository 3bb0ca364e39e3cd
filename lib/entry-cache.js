/**
 * The entry objects of one session: made once, the same object every time. Rust knows which entries
 * there are and how they hang together, in numbers; this turns numbers into objects and keeps what
 * is asked for often, so that hot reads do not cross the boundary.
 */

const { sessionError } = require("./error.js");
const { messageAccessor, lazyEntry, isUnread, fill, moveEntry } = require("./lazy-entry.js");
const { parseLoaded } = require("./loaded-entry.js");

/**
 * Bytes of JSON text fetched at once. Measured: V8 parses texts that stay in the cache faster, while for
 * JavaScriptCore few large ones are better.
 */
const CHUNK_BYTES = process.versions.bun ? 1 << 20 : 1 << 16;

/** Set in a number of a remap when the bytes of the entry changed. */
const CHANGED = 0x80000000;
const GONE = 0xffffffff;

const HEX_ID = /^[0-9a-f]{8}$/;

/** An id in the form that crosses without loss: text that could be ambiguous goes as JSON. */
function idKey(id) {
	return HEX_ID.test(id) ? id : JSON.stringify(id);
}

/** The same marks with room for more. */
function lengthened(marks, length) {
	const longer = new Uint8Array(length);
	longer.set(marks);
	return longer;
}

class EntryCache {
	#native;
	#blobsDir;
	/** Object of each entry, by number; a hole where it has not been made. */
	#objects;
	/** Entries up to here have all been made. */
	#madeUpTo = 0;
	#byId = new Map();
	#accessor = messageAccessor(this);
	#renumberings = 0;
	/** 1 for each entry that this process appended, by number; may be shorter than the entries. */
	#own = new Uint8Array(64);
	/** 1 for each entry whose object is known to be made and read, by number; may be shorter than the entries. */
	#read = new Uint8Array(0);
	#branch;
	#children;
	/** Children by id of the parent, of those that were asked for; an only child, as most are, by itself. */
	#families = new Map();
	#onlyChildren = new Map();
	#labels;
	#plan;

	constructor(native, blobsDir) {
		this.#native = native;
		this.#blobsDir = blobsDir;
		this.#objects = new Array(native.count());
	}

	get native() {
		return this.#native;
	}

	/** Goes on with another session that has the same entries under the same numbers. */
	set native(native) {
		this.#native = native;
		this.#forget();
	}

	get count() {
		return this.#objects.length;
	}

	/** How often the entries got other numbers. */
	get renumberings() {
		return this.#renumberings;
	}

	#forget() {
		this.#branch = undefined;
		this.#forgetFamilies();
		this.#labels = undefined;
		this.#plan = undefined;
	}

	#forgetFamilies() {
		this.#children = undefined;
		this.#families.clear();
		this.#onlyChildren.clear();
	}

	/** Takes in an entry made by this process. */
	add(index, entry) {
		this.#objects[index] = entry;
		if (this.#madeUpTo === index) this.#madeUpTo = index + 1;
		this.#markOwn(index);
		const branch = this.#branch;
		const grows = branch !== undefined && branch.leaf === index - 1 && entry.parentId === branch.path.at(-1)?.id;
		if (grows) {
			branch.path.push(entry);
			branch.leaf = index;
		}
		this.#branch = grows ? branch : undefined;
		this.#forgetFamilies();
		this.#plan = undefined;
		if (entry.type === "label") this.#labels = undefined;
	}

	#markOwn(index) {
		if (index >= this.#own.length) this.#own = lengthened(this.#own, 2 * (index + 1));
		this.#own[index] = 1;
	}

	/** Follows the session after an operation that may have taken in entries of others. */
	sync() {
		const remap = this.#native.takeRemap();
		if (remap) this.#renumber(remap);
		const count = this.#native.count();
		if (count !== this.#objects.length || remap) {
			this.#objects.length = count;
			this.#byId.clear();
			this.#forget();
		}
	}

	#renumber(remap) {
		this.#renumberings++;
		const old = this.#objects;
		const objects = new Array(this.#native.count());
		const own = [];
		for (let at = 0; at < remap.length; at++) {
			const entry = old[at];
			if (entry === undefined || remap[at] === GONE) continue;
			const index = (remap[at] & ~CHANGED) >>> 0;
			// An entry that somebody else rewrote is read anew, unless it is ours or still unread.
			const stale = (remap[at] & CHANGED) !== 0 && !this.isOwn(at) && !isUnread(entry);
			if (stale) continue;
			objects[index] = entry;
			moveEntry(entry, this, index);
			if (this.isOwn(at)) own.push(index);
		}
		this.#objects = objects;
		this.#own.fill(0);
		this.#read.fill(0);
		for (const index of own) this.#markOwn(index);
		this.#madeUpTo = 0;
	}

	/** Goes back to the first `count` entries. */
	truncate(count) {
		this.#objects.length = count;
		this.#madeUpTo = Math.min(this.#madeUpTo, count);
		this.#own.fill(0, count);
		this.#read.fill(0, count);
		this.#byId.clear();
		this.#forget();
	}

	#parse(text) {
		try {
			return parseLoaded(text, this.#blobsDir);
		} catch (error) {
			if (!(error instanceof SyntaxError)) throw error;
			// What was JSON when it was indexed is none any more.
			const { path } = JSON.parse(this.#native.describe());
			throw sessionError(
				"ERR_SESSION_CONFLICT",
				`${path}: the file was written over by somebody else: open the session again to see what is in it`,
				{ path, cause: error },
			);
		}
	}

	#make() {
		const count = this.#objects.length;
		while (this.#madeUpTo < count) {
			this.#madeUpTo = this.#makeFrom(this.#parse(this.#native.envelopes(this.#madeUpTo, CHUNK_BYTES)));
		}
	}

	/** Makes the entries of an answer of `envelopes`. Returns the number of the one behind them. */
	#makeFrom(cells) {
		const count = this.#objects.length;
		let index = this.#madeUpTo;
		let before;
		for (let at = 0; at < cells.length && index < count; index++) {
			const id = cells[at];
			if (typeof id !== "string") {
				this.#objects[index] ??= id;
				at++;
				continue;
			}
			const parentId = cells[at + 1] === 0 ? before : cells[at + 1];
			this.#objects[index] ??= lazyEntry(id, parentId, cells[at + 2], this, index, this.#accessor);
			before = id;
			at += 3;
		}
		return index;
	}

	/** The entry with this number. */
	at(index) {
		const known = this.#objects[index];
		if (known !== undefined) return known;
		const [id, parentId, timestamp] = this.envelopeAgain(index);
		const entry = typeof id === "string" ? lazyEntry(id, parentId, timestamp, this, index, this.#accessor) : id;
		this.#objects[index] = entry;
		return entry;
	}

	/** All entries, in a fresh array. */
	all() {
		if (this.#madeUpTo < this.#objects.length) this.#make();
		return this.#objects.slice();
	}

	/** Id of the parent of the entry with this number, as it is written. */
	parentIdOf(index) {
		const [cell, parentId] = this.envelopeAgain(index);
		return typeof cell === "string" ? parentId : (cell?.parentId ?? null);
	}

	/** The entry with this id if it was asked for before. */
	known(id) {
		return this.#byId.get(id);
	}

	/** The entry with this id. */
	get(id) {
		const known = this.#byId.get(id);
		if (known !== undefined) return known;
		const index = this.indexOf(id);
		if (index === undefined) return undefined;
		const entry = this.at(index);
		this.#byId.set(id, entry);
		return entry;
	}

	/** Number of the entry with this id. */
	indexOf(id) {
		return this.#native.find(idKey(id)) ?? undefined;
	}

	/** Brings the objects to a file that was replaced while it was closed. */
	reopen() {
		this.#native.reopen();
		this.sync();
	}

	/** Called by an unread entry. */
	readMessage(index) {
		const [entry] = this.#parse(this.#native.bodies(Uint32Array.of(index), CHUNK_BYTES, false));
		return entry?.message;
	}

	#objectsOf(numbers) {
		if (numbers.length > 64 && this.#madeUpTo < this.#objects.length) this.#make();
		const entries = new Array(numbers.length);
		for (let at = 0; at < numbers.length; at++) entries[at] = this.at(numbers[at]);
		return entries;
	}

	/** Entries from the root to `leaf`, in a fresh array. */
	branch(leaf) {
		if (this.#branch?.leaf !== leaf) this.#branch = { leaf, path: this.#objectsOf(this.#native.path(leaf)) };
		return this.#branch.path.slice();
	}

	/** Children of an entry, or for `undefined` the roots, in file order and in a fresh array. */
	children(parent) {
		this.#children ??= this.#familiesOf(this.#native.parents());
		const family = this.#children.get(parent ?? GONE);
		return family === undefined ? [] : this.#objectsOf(family);
	}

	/** The children of the entry with this id if they were asked for before, in a fresh array. */
	knownChildren(id) {
		const child = this.#onlyChildren.get(id);
		return child === undefined ? this.#families.get(id)?.slice() : [child];
	}

	/** Children of the entry with this id, in a fresh array. */
	childrenOf(id) {
		const index = this.indexOf(id);
		if (index === undefined) return [];
		const family = this.children(index);
		if (family.length === 1) this.#onlyChildren.set(id, family[0]);
		else this.#families.set(id, family);
		return family.slice();
	}

	/** Numbers of the children by number of the parent. */
	#familiesOf(parents) {
		const families = new Map();
		for (let at = 0; at < parents.length; at++) {
			const family = families.get(parents[at]);
			if (family === undefined) families.set(parents[at], [at]);
			else family.push(at);
		}
		return families;
	}

	#readLabels() {
		this.#labels = new Map(JSON.parse(this.#native.labels()));
		return this.#labels;
	}

	label(id) {
		return (this.#labels ?? this.#readLabels()).get(id);
	}

	tree() {
		const entries = this.all();
		const count = entries.length;
		const layout = this.#native.tree();
		const nodes = new Array(count);
		const labels = this.#labels ?? this.#readLabels();
		const unlabelled = labels.size === 0;
		for (let at = 0; at < count; at++) {
			const entry = entries[at];
			nodes[at] = { entry, children: undefined, label: unlabelled ? undefined : labels.get(entry.id) };
		}
		const roots = [];
		for (let at = 0; at < count; at++) {
			const index = layout[at];
			const parent = layout[count + index];
			const family = parent === GONE ? roots : nodes[parent].children;
			// Most entries have one child. An array that begins with it is small; the first push to an
			// empty one makes room for many.
			if (family === undefined) nodes[parent].children = [nodes[index]];
			else family.push(nodes[index]);
		}
		for (let at = 0; at < count; at++) nodes[at].children ??= [];
		return roots;
	}

	/** How the context of the leaf is put together. */
	plan() {
		if (!this.#plan) {
			const { settings, kept, messages } = this.#native.context();
			this.#plan = { settings: JSON.parse(settings), kept, messages };
		}
		return this.#plan;
	}

	/** The leaf was moved: what depends on it is asked for again. */
	leafMoved() {
		this.#plan = undefined;
	}

	/** Those of the entries that have to be read. */
	#unreadOf(numbers) {
		const count = this.#objects.length;
		if (this.#read.length < count) this.#read = lengthened(this.#read, Math.ceil(count * 1.25));
		const missing = [];
		for (let at = 0; at < numbers.length; at++) {
			const index = numbers[at];
			// To ask the object itself takes longer than all the rest of a context.
			if (this.#read[index] === 1) continue;
			const entry = this.#objects[index];
			if (entry === undefined || isUnread(entry)) missing.push(index);
			else this.#read[index] = 1;
		}
		return missing;
	}

	/** Reads the bodies of entries that have not been read, in few crossings. */
	load(numbers) {
		const missing = this.#unreadOf(numbers);
		for (let from = 0; from < missing.length; ) {
			const rest = Uint32Array.from(missing.slice(from, from + 1024));
			const rows = this.#parse(this.#native.bodies(rest, CHUNK_BYTES, false));
			for (let at = 0; at < rows.length; at++) {
				const index = rest[at];
				const entry = this.#objects[index];
				if (entry === undefined) this.#objects[index] = rows[at];
				else fill(entry, rows[at].message);
				this.#read[index] = 1;
			}
			from += rows.length;
		}
	}

	/** Numbers of the entries that have objects. */
	*made() {
		for (let at = 0; at < this.#objects.length; at++) if (this.#objects[at] !== undefined) yield at;
	}

	peek(index) {
		return this.#objects[index];
	}

	/** Whether this process appended the entry. */
	isOwn(index) {
		return this.#own[index] === 1;
	}

	/** The entry as it would be read now, or for an unread one its envelope. */
	readAgain(indices) {
		const fresh = [];
		while (fresh.length < indices.length) {
			const rest = Uint32Array.from(indices.slice(fresh.length));
			fresh.push(...this.#parse(this.#native.bodies(rest, CHUNK_BYTES, false)));
		}
		return fresh;
	}

	/** `[id, parentId, timestamp]` of an entry as it would be read now, or an array with all of it. */
	envelopeAgain(index) {
		return this.#parse(this.#native.envelopes(index, 1));
	}

	/** Takes an object over from another cache. */
	adopt(index, entry) {
		this.#objects[index] = entry;
		this.#read[index] = 0;
		moveEntry(entry, this, index);
	}
}

module.exports = { EntryCache, idKey };
