/** Copies of a session at another place: fork, move, branch into a file of its own. */

const fs = require("node:fs");
const path = require("node:path");
const { artifactsDir } = require("./artifacts.js");
const { sessionError } = require("./error.js");
const { SessionState } = require("./session-state.js");
const { StorageLog } = require("./storage/storage-log.js");
const { changedEntries, changedEntriesInSlices } = require("./changed-entries.js");
const { isUnread } = require("./lazy-entry.js");
const { stringifyStored } = require("./loaded-entry.js");
const files = require("./session-files.js");
const places = require("./places.js");

/** Writes a copy of the session on `state` to `file`; resolves to its native session. */
async function copyTo(state, file, members) {
	const changed = await changedEntriesInSlices(state.cache);
	return state.native.rewrite(
		file,
		state.changedHeader(),
		JSON.stringify(members),
		Uint32Array.from(changed.entries),
		changed.texts,
		files.uniqueNumber(),
	);
}

/** Header members of a copy that is a session of its own. */
function copyMembers(header, parentSession, title) {
	const members = { id: header.id, timestamp: header.timestamp, cwd: header.cwd, parentSession };
	if (title !== undefined) members.title = title;
	return members;
}

/** A copy in the text of a storage object. */
async function copyInStorage(on, state, file, members) {
	const changed = await changedEntriesInSlices(state.cache);
	// The text with the new header is made by a session that is thrown away, so that the old one
	// keeps its own.
	const copy = SessionState.fromText(state.native.textFrom(0), file);
	const text = copy.native.rewriteText(
		state.changedHeader(),
		JSON.stringify(members),
		Uint32Array.from(changed.entries),
		changed.texts,
	);
	const log = new StorageLog(on.storage, file);
	log.replace(text, { mustBeNew: true });
	await log.settled();
	return { native: copy.native, log };
}

/** The same entries, with the same objects, on another native session. */
function successor(state, native, file) {
	const next = new SessionState(native, file);
	state.sync();
	const sameNumbers = state.native.renumberings() === native.renumberings();
	for (const index of state.cache.made()) {
		const entry = state.cache.peek(index);
		// Since the copy was made somebody else may have replaced the file it was made of.
		const at = sameNumbers ? index : next.cache.indexOf(entry.id);
		if (at !== undefined && at < next.cache.count) next.cache.adopt(at, entry);
	}
	return next;
}

async function fork(on) {
	const { state } = on;
	if (!on.persist || state.file === undefined) return undefined;
	await files.finishPending(on);
	files.follow(on);
	const oldSessionFile = state.file;
	const { header, file } = files.newHeader(on, state.header.id);
	if (!on.storage) places.ensureDir(path.dirname(file));
	const members = copyMembers(header, state.header.id, state.name);
	let next;
	if (!state.stored) {
		if (state.name !== undefined) header.title = state.name;
		next = successor(state, state.native.detachedCopy(JSON.stringify(header)), file);
		await files.storeAll(on, next, false);
	} else if (on.storage) {
		const { native, log } = await copyInStorage(on, state, file, members);
		next = successor(state, native, file);
		next.storageLog = log;
	} else {
		next = successor(state, await copyTo(state, file, members), file);
		await state.native.flush();
		state.native.release();
	}
	on.state = next;
	files.placesOf(on);
	return { oldSessionFile, newSessionFile: file };
}

/** Puts a new manager on a copy of the session at `source`. */
async function forkInto(on, source) {
	const opened = await files.read(on, source);
	if (opened.kind === "missing") {
		throw sessionError("ENOENT", `ENOENT: no session file at ${source}`, { path: source });
	}
	if (opened.kind === "empty") {
		files.startSession(on);
		await files.ensureOnDisk(on);
		return;
	}
	const { state } = opened;
	const { header, file } = files.newHeader(on, state.header.id);
	const members = copyMembers(header, state.header.id, state.name);
	if (on.storage) {
		const { native, log } = await copyInStorage(on, state, file, members);
		on.state = new SessionState(native, file);
		on.state.storageLog = log;
	} else {
		on.state = new SessionState(await copyTo(state, file, members), file);
		state.native.release();
	}
	files.placesOf(on);
	files.leaveBreadcrumb(on, false);
}

function requireFree(file) {
	if (fs.existsSync(file)) {
		throw sessionError("EEXIST", `EEXIST: ${file} is there already; nothing was changed`, { path: file });
	}
}

/** Moves a directory, also to another file system. */
function moveDir(from, to) {
	try {
		fs.renameSync(from, to);
	} catch (error) {
		if (error.code !== "EXDEV") throw error;
		try {
			fs.cpSync(from, to, { recursive: true, errorOnExist: true, force: false, preserveTimestamps: true });
		} catch (copyError) {
			fs.rmSync(to, { recursive: true, force: true });
			throw copyError;
		}
		fs.rmSync(from, { recursive: true, force: true });
	}
}

/** Moves the artifact folder along, or nothing at all. */
function moveArtifacts(from, to, otherwise) {
	if (!fs.existsSync(from)) return () => {};
	try {
		moveDir(from, to);
	} catch (error) {
		otherwise();
		throw error;
	}
	return () => moveDir(to, from);
}

async function moveFile(on, target, cwd) {
	const { state } = on;
	const source = state.file;
	const artifacts = [artifactsDir(source), artifactsDir(target)];
	requireFree(target);
	if (fs.existsSync(artifacts[0])) requireFree(artifacts[1]);
	// The file goes with the rename of its artifacts or stays with them: the copy is complete and
	// synced before anything of the old place is touched.
	const native = await copyTo(state, target, { cwd });
	fs.chmodSync(target, fs.statSync(source).mode & 0o777);
	const undoCopy = () => fs.rmSync(target, { force: true });
	const undoArtifacts = moveArtifacts(artifacts[0], artifacts[1], undoCopy);
	try {
		fs.unlinkSync(source);
	} catch (error) {
		undoArtifacts();
		undoCopy();
		throw error;
	}
	return native;
}

async function moveTo(on, newCwd) {
	const cwd = path.resolve(newCwd);
	if (cwd === on.cwd) return;
	const { state } = on;
	files.follow(on);
	const root = places.isManagedDir(on.sessionDir, on.cwd) ? path.dirname(on.sessionDir) : places.getSessionsDir();
	const dir = on.persist ? places.defaultSessionDir(cwd, root, { create: !on.storage }) : on.sessionDir;
	await files.finishPending(on);
	if (state.file === undefined) {
		state.setHeader({ cwd });
		state.native.editHeader(state.changedHeader(), JSON.stringify({ cwd }));
	} else {
		const target = path.join(dir, path.basename(state.file));
		await moveStored(on, target, cwd);
	}
	on.cwd = cwd;
	on.sessionDir = dir;
	files.placesOf(on);
	files.leaveBreadcrumb(on, !state.stored);
}

async function moveStored(on, target, cwd) {
	const { state } = on;
	if (!state.stored) {
		state.native.editHeader(state.changedHeader(), JSON.stringify({ cwd }));
		state.file = target;
	} else if (on.storage) {
		if (target !== state.file) await on.storage.rename(state.file, target);
		state.file = target;
		state.storageLog.path = target;
		await files.rewrite(on, { cwd });
	} else if (target === state.file) {
		await files.rewrite(on, { cwd });
	} else {
		state.moveTo(await moveFile(on, target, cwd), target);
	}
	state.setHeader({ cwd });
}

/** Every entry on the way to `leaf` as JSON, for a session whose bodies are in memory only. */
function pathTexts(state, leaf) {
	const entries = Array.from(state.native.path(leaf));
	return { entries, texts: entries.map((index) => stringifyStored(state.cache.at(index))) };
}

function branchHeader(on) {
	const { state } = on;
	const { header, file } = files.newHeader(on, on.persist ? state.file : undefined);
	if (state.name !== undefined) header.title = state.name;
	if (state.header.version > header.version) header.version = state.header.version;
	return { header, file };
}

/** Hands the objects of the path over; one that names another entry now is a new object. */
function takeObjectsOver(from, to, { taken, relinked, kept, labels }) {
	const moved = new Set(relinked);
	const keeps = new Map(kept);
	const idOf = (index) => from.at(taken[index]).id;
	for (let index = 0; index < taken.length; index++) {
		const entry = from.peek(taken[index]);
		if (entry === undefined) continue;
		if (!moved.has(index) && !keeps.has(index)) {
			to.adopt(index, entry);
		} else if (!isUnread(entry)) {
			const copy = { ...entry };
			if (moved.has(index)) copy.parentId = index === 0 ? null : idOf(index - 1);
			if (keeps.has(index)) copy.firstKeptEntryId = idOf(keeps.get(index));
			to.adopt(index, copy);
		}
	}
	for (const [at, label] of labels.entries()) to.adopt(taken.length + at, label);
}

function createBranchedSession(on, leafId) {
	const { state } = on;
	// From here on the entries keep their numbers.
	state.native.writeQueued();
	state.sync();
	const leaf = state.cache.indexOf(leafId);
	if (leaf === undefined) {
		throw sessionError("ERR_ENTRY_NOT_FOUND", `Entry ${leafId} not found`, { entryId: leafId });
	}
	files.follow(on);
	const { header, file } = branchHeader(on);
	const changed = state.stored ? changedEntries(state.cache) : pathTexts(state, leaf);
	const inFile = on.persist && !on.storage;
	const native = state.native.branched(
		leaf,
		JSON.stringify(header),
		inFile ? file : null,
		Uint32Array.from(changed.entries),
		changed.texts,
		Date.now(),
	);
	const next = new SessionState(native, on.persist ? file : undefined);
	takeObjectsOver(state.cache, next.cache, JSON.parse(native.takeBranchNote()));
	if (on.storage && on.persist) {
		on.formerLog = state.storageLog;
		next.storageLog = new StorageLog(on.storage, file);
		const text = next.stored ? native.textFrom(0) : native.createText(next.entryLines());
		next.storageLog.replace(text, { mustBeNew: true });
		files.stored(next);
	}
	on.state = next;
	if (!on.persist) return undefined;
	files.placesOf(on);
	return file;
}

module.exports = { createBranchedSession, fork, forkInto, moveTo };
