/** Sessions on disk: lists, the most recent one, and the one that an argument means. */

const fs = require("node:fs");
const path = require("node:path");
const native = require("./binding.js");
const args = require("./arguments.js");
const { sessionError } = require("./error.js");
const { sessionInfo } = require("./session-info.js");
const places = require("./places.js");
const { customStorage } = require("./storage/custom-storage.js");

/** Title, prompt and so on as one line without control characters. */
function oneLine(text) {
	const line = typeof text === "string" ? text.split(/\r?\n/, 1)[0] : "";
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
	return line.replace(/[\u0000-\u001f\u007f]/g, "").trim() || undefined;
}

function infosOf(listing) {
	return JSON.parse(listing.rows()).map((row, at) => sessionInfo(row, listing, at));
}

/** What earlier lists saw; named by the layout of what is in it. */
function cacheFile() {
	return path.join(places.getAgentDir(), "omp-session", "listing-1");
}

async function listStored(storage, dirs) {
	const infos = [];
	for (const file of dirs.flatMap((dir) => storage.listFilesSync(dir, "*.jsonl"))) {
		try {
			const text = await storage.readText(file);
			const { mtimeMs, size } = storage.statSync(file);
			const [row] = JSON.parse(native.summarizeText(text, file, mtimeMs, size));
			if (row) infos.push(sessionInfo(row, { text: () => native.messagesTextOf(text) }, 0));
		} catch {
			// A file that cannot be read does not hide the others.
		}
	}
	return infos.sort((a, b) => b.modified.getTime() - a.modified.getTime());
}

/** Directories of a project, and whether sessions of other projects may be in them. */
function dirsFor(cwd, sessionDir) {
	return sessionDir === undefined ? places.knownSessionDirs(cwd, places.getSessionsDir()) : [sessionDir];
}

async function list(cwd, sessionDir, storage) {
	args.requirePath("SessionManager.list", "cwd", cwd);
	const given = args.optionalPath("SessionManager.list", "sessionDir", sessionDir);
	const custom = customStorage("SessionManager.list", storage);
	const dirs = dirsFor(cwd, given);
	const infos = custom
		? await listStored(
				custom,
				given === undefined ? [places.defaultSessionDir(cwd, places.getSessionsDir(), { create: false })] : dirs,
			)
		: infosOf(await native.listSessions(dirs, null, cacheFile()));
	return given === undefined ? infos.filter((info) => places.belongsTo(cwd, info.cwd)) : infos;
}

function projectDirs(root) {
	try {
		return fs
			.readdirSync(root)
			.filter((name) => !name.startsWith("."))
			.map((name) => path.join(root, name));
	} catch {
		return [];
	}
}

async function listAll(storage) {
	const custom = customStorage("SessionManager.listAll", storage);
	const root = places.getSessionsDir();
	if (custom) return listStored(custom, projectDirs(root));
	return infosOf(await native.listSessions([], root, cacheFile()));
}

/** Headers below directories, newest first. */
async function headers(dirs, root, { prompts = false, limit = null, storage } = {}) {
	if (!storage) return JSON.parse(await native.listHeaders(dirs, root, prompts, limit));
	const infos = await listStored(storage, root === null ? dirs : projectDirs(root));
	const rows = infos.map((info) => ({
		path: info.path,
		id: info.id,
		cwd: info.cwd,
		title: info.title,
		modified: info.modified.getTime(),
		firstPrompt: info.firstMessage === "(no messages)" ? undefined : info.firstMessage,
	}));
	return limit === null ? rows : rows.slice(0, limit);
}

async function findMostRecentSession(sessionDir, storage) {
	args.requirePath("findMostRecentSession", "sessionDir", sessionDir);
	const custom = customStorage("findMostRecentSession", storage);
	const [first] = await headers([sessionDir], null, { limit: 1, storage: custom });
	return first?.path ?? null;
}

function isDirectory(dir) {
	return fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The session that `continueRecent` goes on with: of this project, and never of another one. */
async function continuable(cwd, dir, explicit, storage) {
	const dirs = explicit ? [dir] : [...new Set([dir, ...places.knownSessionDirs(cwd, places.getSessionsDir())])];
	const rows = await headers(dirs, null, { storage });
	if (!explicit) return rows.find((row) => places.belongsTo(cwd, row.cwd ?? ""))?.path;
	const own = rows.find((row) => typeof row.cwd === "string" && places.sameProject(cwd, row.cwd));
	// A session of a directory that is gone may be one that was moved.
	return (own ?? rows.find((row) => !row.cwd || !isDirectory(row.cwd)))?.path;
}

/** Largest number that crosses as a count. */
const MOST_SESSIONS = 0xffffffff;

const MINUTE = 60_000;

function timeAgo(mtime) {
	const minutes = Math.floor((Date.now() - mtime) / MINUTE);
	if (minutes < 1) return "just now";
	if (minutes < 60) return `${minutes}m ago`;
	if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ago`;
	if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / 1440)}d ago`;
	return new Date(mtime).toLocaleDateString();
}

function recentInfo(row) {
	const fullName =
		oneLine(row.title) ?? oneLine(row.firstPrompt) ?? oneLine(row.id) ?? path.basename(row.path, ".jsonl");
	const name = fullName.length <= 40 ? fullName : `${fullName.slice(0, 39)}…`;
	return { path: row.path, mtime: row.modified, fullName, name, timeAgo: timeAgo(row.modified) };
}

async function getRecentSessions(sessionDir, limit, storage) {
	args.requirePath("getRecentSessions", "sessionDir", sessionDir);
	const count = args.optionalNumber("getRecentSessions", "limit", limit) ?? 3;
	const custom = customStorage("getRecentSessions", storage);
	const rows = await headers([sessionDir], null, {
		prompts: true,
		limit: count > 0 ? Math.floor(Math.min(count, MOST_SESSIONS)) : 0,
		storage: custom,
	});
	return rows.map(recentInfo);
}

function matches(row, wanted) {
	const name = path.basename(row.path, ".jsonl").toLowerCase();
	const tail = name.includes("_") ? name.slice(name.lastIndexOf("_") + 1) : "";
	return row.id.toLowerCase().startsWith(wanted) || name.startsWith(wanted) || (tail !== "" && tail.startsWith(wanted));
}

/** The one session of `rows` that `wanted` means. */
function pick(rows, wanted, argument) {
	const found = rows.filter((row) => matches(row, wanted));
	if (found.length <= 1) return found[0];
	const exact = found.filter((row) => row.id.toLowerCase() === wanted);
	const ids = new Set(found.map((row) => row.id));
	// Copies of one session are one answer: the newest of them.
	if (exact.length > 0 || ids.size === 1) return exact[0] ?? found[0];
	throw sessionError(
		"ERR_AMBIGUOUS_SESSION",
		`"${argument}" is the beginning of ${ids.size} sessions: ${[...ids].slice(0, 10).join(", ")}. Give more of the id`,
		{ candidates: found.map((row) => ({ id: row.id, path: row.path })) },
	);
}

async function infoAt(row, storage) {
	if (storage) return (await listStored(storage, [path.dirname(row.path)])).find((info) => info.path === row.path);
	const [summary] = JSON.parse(await native.summarizeSessions([row.path]));
	return summary && sessionInfo(summary, { text: (_row, file) => native.messagesText(file) }, 0);
}

async function resolveResumableSession(sessionArg, cwd, sessionDir, storage) {
	args.requireString("resolveResumableSession", "sessionArg", sessionArg);
	args.requirePath("resolveResumableSession", "cwd", cwd);
	const given = args.optionalPath("resolveResumableSession", "sessionDir", sessionDir);
	const custom = customStorage("resolveResumableSession", storage);
	const wanted = sessionArg.toLowerCase();
	if (wanted === "") return undefined;
	const found = async (rows, scope) => {
		const row = pick(rows, wanted, sessionArg);
		const session = row && (await infoAt(row, custom));
		return session && { session, scope };
	};
	const local = await headers(dirsFor(cwd, given), null, { storage: custom });
	const own = given === undefined ? local.filter((row) => places.belongsTo(cwd, row.cwd ?? "")) : local;
	const match = await found(own, "local");
	if (match || given !== undefined) return match;
	return found(await headers([], places.getSessionsDir(), { storage: custom }), "global");
}

module.exports = { continuable, findMostRecentSession, getRecentSessions, list, listAll, resolveResumableSession };
