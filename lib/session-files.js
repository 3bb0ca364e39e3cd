/** Operations that change where a session is stored, or move a manager to another session. */

const path = require("node:path");
const { SessionState } = require("./session-state.js");
const { StorageLog } = require("./storage/storage-log.js");
const { changedEntriesInSlices } = require("./changed-entries.js");
const { writeBreadcrumb } = require("./breadcrumb.js");
const { nextSessionId } = require("./snowflake.js");
const places = require("./places.js");

const CURRENT_VERSION = 3;
const BLANK = /^[\t\n\v\f\r \ufeff]*$/;

/** A new header and the path of its file. */
function newHeader(on, parentSession) {
	const now = Date.now();
	const header = {
		type: "session",
		version: CURRENT_VERSION,
		id: nextSessionId(now),
		timestamp: new Date(now).toISOString(),
		cwd: on.cwd,
	};
	if (parentSession !== undefined) header.parentSession = parentSession;
	return { header, file: path.join(on.sessionDir, places.sessionFileName(header.timestamp, header.id)) };
}

function leaveBreadcrumb(on, fresh) {
	if (on.persist && on.state.file !== undefined) writeBreadcrumb(on.cwd, on.state.file, { fresh });
}

/** Puts the manager on a new session without a file. */
function startSession(on, parentSession) {
	const { header, file } = newHeader(on, parentSession);
	on.state = SessionState.fresh(header, on.persist ? file : undefined);
	leaveBreadcrumb(on, true);
}

/** Reads what is at a path: `{ kind: "session" | "missing" | "empty", state? }`. */
async function read(on, file) {
	if (!on.storage) return SessionState.open(file);
	if (!(await on.storage.exists(file))) return { kind: "missing" };
	const text = await on.storage.readText(file);
	if (BLANK.test(text)) return { kind: "empty" };
	const state = SessionState.fromText(text, file);
	if (!state) return { kind: "empty" };
	state.storageLog = new StorageLog(on.storage, file);
	return { kind: "session", state };
}

/** Puts the manager on what was read; a missing or empty file becomes a new session at once. */
async function enter(on, file, opened) {
	if (opened.kind === "session") {
		on.state = opened.state;
		placesOf(on);
	} else {
		const { header } = newHeader(on);
		const state = SessionState.fresh(header, file);
		await storeAll(on, state, opened.kind === "empty");
		on.state = state;
	}
	leaveBreadcrumb(on, false);
}

/** Tells the native session where its directory may turn up if somebody renames it. */
function placesOf(on) {
	if (!on.storage && on.state.stored) {
		on.state.native.setPlaces(places.knownSessionDirs(on.cwd, path.dirname(on.sessionDir || ".")));
	}
}

/** Somebody may have renamed the directory under the manager, which goes on where its file is now. */
function follow(on) {
	const { state } = on;
	if (on.storage || !state.stored) return;
	const file = state.native.takeNewPath();
	if (file === null) return;
	if (on.sessionDir === path.dirname(state.file)) on.sessionDir = path.dirname(file);
	state.file = file;
	placesOf(on);
}

/** Writes a session that is not stored, everything at once, off the JavaScript thread. */
async function storeAll(on, state, blank) {
	if (on.storage) {
		storeInStorage(on, state);
		await state.storageLog.settled();
	} else {
		await state.native.createFileAsync(state.file, blank, state.entryLines());
	}
	stored(state);
}

function storeInStorage(on, state) {
	state.storageLog ??= new StorageLog(on.storage, state.file);
	state.storageLog.replace(state.native.createText(state.entryLines()), { mustBeNew: true });
}

function stored(state) {
	state.stored = true;
	state.wantsFile = false;
	state.pendingTexts = [];
}

/** The first assistant message came: the file appears with everything in it, in this call. */
function startFile(on) {
	const { state } = on;
	state.wantsFile = true;
	try {
		if (on.storage) storeInStorage(on, state);
		else state.native.createFile(state.file, false, state.entryLines());
	} catch (error) {
		throw Object.assign(error, { entryId: state.leafId });
	}
	stored(state);
	placesOf(on);
	leaveBreadcrumb(on, false);
}

/** Tries again what an append could not write. */
async function finishPending(on) {
	const { state } = on;
	await on.formerLog?.settled();
	on.formerLog = undefined;
	if (state.wantsFile && !state.stored) startFile(on);
	await state.storageLog?.settled();
}

async function flush(on) {
	await finishPending(on);
	await on.state.native.flush();
	on.state.sync();
}

async function close(on) {
	await flush(on);
	follow(on);
	await on.state.storageLog?.close();
	on.state.native.release();
}

async function refresh(on) {
	if (!on.persist || !on.state.stored || on.storage) return 0;
	const before = on.state.cache.count;
	await on.state.native.refresh();
	on.state.sync();
	return Math.max(0, on.state.cache.count - before);
}

/** Writes the file anew with the header members and every entry that changed in memory. */
async function rewrite(on, members) {
	const { state } = on;
	await finishPending(on);
	const changed = await changedEntriesInSlices(state.cache);
	const header = state.changedHeader();
	const edit = members && JSON.stringify(members);
	const indices = Uint32Array.from(changed.entries);
	if (on.storage) {
		state.storageLog.replace(state.native.rewriteText(header, edit, indices, changed.texts), {});
		await state.storageLog.settled();
	} else {
		await state.native.rewrite(null, header, edit, indices, changed.texts, uniqueNumber());
	}
	state.headerWritten();
	state.sync();
}

function uniqueNumber() {
	return Number.parseInt(nextSessionId(Date.now()).slice(3), 16);
}

async function rewriteEntries(on) {
	if (!on.persist) return;
	if (on.state.stored) await rewrite(on, undefined);
	else await storeAll(on, on.state, false);
	leaveBreadcrumb(on, false);
}

async function ensureOnDisk(on) {
	if (!on.persist || on.state.stored) return;
	await storeAll(on, on.state, false);
	placesOf(on);
	leaveBreadcrumb(on, false);
}

async function newSession(on, options) {
	await leaveSession(on);
	startSession(on, options?.parentSession ?? undefined);
	return on.state.file;
}

/** Everything queued for the present session reaches it before the manager goes on. */
async function leaveSession(on) {
	await finishPending(on);
	await on.state.native.flush();
	follow(on);
	on.state.native.release();
}

async function setSessionFile(on, file) {
	await leaveSession(on);
	// Reading comes first: a file that is refused leaves the manager where it was.
	await enter(on, file, await read(on, file));
}

async function setSessionName(on, name) {
	const { state } = on;
	state.name = name;
	state.setHeader({ title: name });
	if (!state.stored) {
		state.native.editHeader(state.changedHeader(), JSON.stringify({ title: name }));
		return;
	}
	if (state.hasTitleLine && !on.storage) {
		await finishPending(on);
		const fitted = await state.native.writeTitleLine(name.toWellFormed(), new Date().toISOString());
		state.sync();
		if (fitted) return;
	}
	await rewrite(on, { title: name });
}

function captureState(on) {
	const { state } = on;
	return { state, snapshot: state.native.snapshot(), count: state.cache.count, name: state.name };
}

function restoreState(on, captured) {
	const { state, snapshot, count, name } = captured;
	on.state = state;
	state.native.restore(snapshot);
	state.cache.truncate(count);
	state.name = name;
	state.leafId = count === 0 ? null : state.cache.at(count - 1).id;
	leaveBreadcrumb(on, !state.stored);
}

module.exports = {
	captureState,
	close,
	enter,
	ensureOnDisk,
	finishPending,
	flush,
	follow,
	leaveBreadcrumb,
	newHeader,
	newSession,
	placesOf,
	read,
	refresh,
	restoreState,
	rewrite,
	rewriteEntries,
	setSessionFile,
	setSessionName,
	startFile,
	startSession,
	storeAll,
	stored,
	uniqueNumber,
};
