/** Makes what a new manager is on: `{ cwd, sessionDir, persist, storage, state, startFile }`. */

const path = require("node:path");
const args = require("./arguments.js");
const { readBreadcrumb } = require("./breadcrumb.js");
const { customStorage } = require("./storage/custom-storage.js");
const places = require("./places.js");
const files = require("./session-files.js");
const moving = require("./session-moving.js");
const { continuable } = require("./list.js");

function makeDir(dir, storage) {
	if (storage) storage.ensureDirSync(dir);
	else places.ensureDir(dir);
}

function getDefaultSessionDir(cwd, agentDir, storage) {
	args.requirePath("SessionManager.getDefaultSessionDir", "cwd", cwd);
	const root = places.getSessionsDir(args.optionalPath("SessionManager.getDefaultSessionDir", "agentDir", agentDir));
	const custom = customStorage("SessionManager.getDefaultSessionDir", storage);
	const dir = places.defaultSessionDir(cwd, root, { create: false });
	makeDir(dir, custom);
	return dir;
}

function on(cwd, sessionDir, persist, storage) {
	const target = { cwd, sessionDir, persist, storage, state: undefined };
	target.startFile = () => files.startFile(target);
	return target;
}

function dirFor(where, cwd, sessionDir, storage) {
	const given = args.optionalPath(where, "sessionDir", sessionDir);
	if (given === undefined) return getDefaultSessionDir(cwd, undefined, storage);
	makeDir(given, storage);
	return given;
}

function create(cwd, sessionDir, storage) {
	args.requirePath("SessionManager.create", "cwd", cwd);
	const custom = customStorage("SessionManager.create", storage);
	const target = on(cwd, dirFor("SessionManager.create", cwd, sessionDir, custom), true, custom);
	files.startSession(target);
	return target;
}

function inMemory(cwd, storage) {
	const dir = args.optionalPath("SessionManager.inMemory", "cwd", cwd) ?? process.cwd();
	const target = on(dir, "", false, customStorage("SessionManager.inMemory", storage));
	files.startSession(target);
	return target;
}

async function open(filePath, sessionDir, storage) {
	args.requirePath("SessionManager.open", "path", filePath);
	const given = args.optionalPath("SessionManager.open", "sessionDir", sessionDir);
	const custom = customStorage("SessionManager.open", storage);
	const file = path.resolve(filePath);
	const target = on(process.cwd(), given ?? path.dirname(file), true, custom);
	const opened = await files.read(target, file);
	const cwd = opened.state?.header.cwd;
	if (typeof cwd === "string" && cwd !== "") target.cwd = cwd;
	await files.enter(target, file, opened);
	return target;
}

async function continueRecent(cwd, sessionDir, storage) {
	args.requirePath("SessionManager.continueRecent", "cwd", cwd);
	const custom = customStorage("SessionManager.continueRecent", storage);
	const dir = dirFor("SessionManager.continueRecent", cwd, sessionDir, custom);
	const target = on(cwd, dir, true, custom);
	const crumb = await readBreadcrumb(cwd);
	// A session that never got a file was the last one here: the wish was a new session.
	const startedAfresh = crumb?.fresh && !crumb.exists;
	let recent;
	if (!startedAfresh)
		recent = crumb?.exists ? crumb.sessionFile : await continuable(cwd, dir, given(sessionDir), custom);
	if (recent === undefined) {
		files.startSession(target);
	} else {
		await files.enter(target, recent, await files.read(target, recent));
	}
	return target;
}

function given(sessionDir) {
	return sessionDir !== undefined && sessionDir !== null;
}

async function forkFrom(sourcePath, cwd, sessionDir, storage) {
	args.requirePath("SessionManager.forkFrom", "sourcePath", sourcePath);
	args.requirePath("SessionManager.forkFrom", "cwd", cwd);
	const custom = customStorage("SessionManager.forkFrom", storage);
	const dir = dirFor("SessionManager.forkFrom", cwd, sessionDir, custom);
	const target = on(cwd, dir, true, custom);
	await moving.forkInto(target, path.resolve(sourcePath));
	return target;
}

module.exports = { create, inMemory, open, continueRecent, forkFrom, getDefaultSessionDir };
