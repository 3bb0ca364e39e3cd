/**
 * One session as a manager holds it: the native session, its entry objects, its header object and
 * where it is stored. A manager changes to another state when it changes to another session.
 */

const native = require("./binding.js");
const { EntryCache } = require("./entry-cache.js");
const { getBlobsDir } = require("./places.js");

const { NativeSession } = native;

/** Longest JSON text handed over at once when a session is first written. */
const seed = () => Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);

class SessionState {
	/** The native session. */
	native;
	/** @type {EntryCache} */
	cache;
	/** The header as callers see it. */
	header;
	/** Header text the object above was last equal to. */
	headerText;
	/** @type {string | undefined} */
	name;
	/** @type {string | null} */
	leafId;
	/** Path of the file, also before it exists; undefined for a session in memory. */
	file;
	/** Whether the entries are in a file or a storage object. */
	stored = false;
	/** Whether the file has a title line before the header. */
	hasTitleLine = false;
	/** An append could not create the file: the next one tries again. */
	wantsFile = false;
	/** JSON of entries that are not stored, as they were when they were appended. */
	pendingTexts = [];
	/** Queue of writes to a storage object. */
	storageLog;

	constructor(nativeSession, file) {
		this.file = file;
		this.use(nativeSession);
	}

	/** A session that is not stored. */
	static fresh(header, file) {
		return new SessionState(NativeSession.create(JSON.stringify(header), seed(), getBlobsDir()), file);
	}

	/** What is at a path: `{ kind, state }`. */
	static async open(file) {
		const opened = await NativeSession.open(file, seed(), getBlobsDir());
		return { kind: opened.kind, state: opened.session && new SessionState(opened.session, file) };
	}

	/** A session from the text of a storage object; undefined if the text is blank. */
	static fromText(text, file) {
		const session = NativeSession.fromText(text, file, seed(), getBlobsDir());
		return session ? new SessionState(session, file) : undefined;
	}

	/** Takes a native session, with new entry objects. */
	use(nativeSession) {
		this.native = nativeSession;
		this.cache = new EntryCache(nativeSession, getBlobsDir());
		this.readHeader();
	}

	/** Goes on with a native session that has the same entries; their objects stay. */
	moveTo(nativeSession, file) {
		this.native = nativeSession;
		this.cache.native = nativeSession;
		this.file = file;
		this.readHeader();
	}

	describe() {
		return JSON.parse(this.native.describe());
	}

	/** Makes the header object from what the native session has. */
	readHeader() {
		const { header, title, leafId, stored } = this.describe();
		this.stored = stored;
		this.header = header;
		this.hasTitleLine = title !== null;
		if (title !== null) header.title = title;
		if (!(header.version >= 3)) header.version = 3;
		this.name = typeof header.title === "string" ? header.title : undefined;
		this.headerText = JSON.stringify(header);
		this.leafId = leafId;
	}

	/** Sets members of the header object and remembers that they are ours. */
	setHeader(members) {
		const changedByCaller = JSON.stringify(this.header) !== this.headerText;
		// A header that a caller froze is replaced: the session's title is not the caller's to stop.
		if (Object.isFrozen(this.header) || Object.isSealed(this.header)) this.header = { ...this.header };
		Object.assign(this.header, members);
		if (!changedByCaller) this.headerText = JSON.stringify(this.header);
	}

	/** The header as text if a caller changed the object, else undefined. */
	changedHeader() {
		const text = JSON.stringify(this.header);
		return text === this.headerText ? undefined : text;
	}

	/** The header text was written. */
	headerWritten() {
		this.headerText = JSON.stringify(this.header);
	}

	/** Takes in what the last operation may have brought. */
	sync() {
		this.cache.sync();
	}

	/** The file was replaced while it was closed: goes on with what is there now. */
	reopen() {
		this.cache.reopen();
		const { leafId } = this.describe();
		this.leafId = leafId;
	}

	/** JSON lines of all entries of a session that is not stored. */
	entryLines() {
		return this.cache
			.all()
			.map((entry, at) => {
				try {
					return JSON.stringify(entry);
				} catch (error) {
					// Somebody put into the object what JSON cannot hold, after the append had accepted it:
					// what was accepted is written.
					const accepted = this.pendingTexts[at];
					if (accepted === undefined) throw error;
					return accepted;
				}
			})
			.join("\n");
	}
}

module.exports = { SessionState };
