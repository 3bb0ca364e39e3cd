/**
 * Where things are: the agent directory and the directories of projects below it. Environment,
 * home and working directory are read at each call, as programs change them while they run. Nothing
 * here renames or deletes.
 */

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { createHash } = require("node:crypto");
const { cutToBytes } = require("./file-name.js");

/** Longest file name that file systems take, in bytes. */
const NAME_BYTES = 255;

/** Longest path that any system takes. */
const PATH_LENGTH = 32767;

/** Bun's `os.homedir()` does not follow later changes of the environment. */
function home() {
	return process.env[process.platform === "win32" ? "USERPROFILE" : "HOME"] || os.homedir();
}

function defaultAgentDir() {
	return path.join(home(), process.env.PI_CONFIG_DIR || ".omp", "agent");
}

/** The agent's directory. */
function getAgentDir() {
	const given = process.env.PI_CODING_AGENT_DIR;
	return given ? path.resolve(given) : defaultAgentDir();
}

/** Where a part of the default agent directory is if the user moved it to a base directory of XDG. */
function xdgDir(variable) {
	const base = process.env[variable];
	if (!base || process.platform === "win32" || getAgentDir() !== defaultAgentDir()) return undefined;
	const dir = path.join(base, "omp");
	return fs.existsSync(dir) ? dir : undefined;
}

function agentPart(agentDir, variable, name) {
	if (agentDir !== undefined && agentDir !== null && path.resolve(agentDir) !== getAgentDir()) {
		return path.resolve(agentDir, name);
	}
	return path.join(xdgDir(variable) ?? getAgentDir(), name);
}

/** The directory above all projects' sessions. */
function getSessionsDir(agentDir) {
	return agentPart(agentDir, "XDG_DATA_HOME", "sessions");
}

/** The directory of the blob store. */
function getBlobsDir(agentDir) {
	return agentPart(agentDir, "XDG_DATA_HOME", "blobs");
}

/** The directory of the terminals' breadcrumbs. */
function getTerminalSessionsDir(agentDir) {
	return agentPart(agentDir, "XDG_STATE_HOME", "terminal-sessions");
}

/** Creates a directory and its parents, open to their owner only. */
function ensureDir(dir) {
	fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
}

/**
 * What a path really is. Of one that does not exist, the part that does: a project has one name
 * before its directory is made, while it is there, and after it was removed.
 */
function realPath(dir) {
	const resolved = path.resolve(dir);
	let rest = "";
	for (let part = resolved; resolved.length <= PATH_LENGTH; part = path.dirname(part)) {
		try {
			return path.join(fs.realpathSync.native(part), rest);
		} catch {
			if (part === path.dirname(part)) break;
			rest = path.join(path.basename(part), rest);
		}
	}
	return resolved;
}

function withDriveLetter(dir) {
	return process.platform === "win32" ? dir.replace(/^[a-z]:/, (drive) => drive.toUpperCase()) : dir;
}

function sha256(text) {
	return createHash("sha256").update(text).digest("hex");
}

/** A name cut to what file systems take; the hash of the whole path keeps it apart from others. */
function fittingName(name, whole) {
	if (Buffer.byteLength(name) <= NAME_BYTES) return name;
	const end = `-${sha256(whole)}`;
	return cutToBytes(name, NAME_BYTES - end.length) + end;
}

function encoded(part) {
	return part.replace(/[/\\:]/g, "-");
}

function documentName(dir) {
	return fittingName(`--${encoded(dir.replace(/^[/\\]/, ""))}--`, dir);
}

/** The path of `dir` below `root`; undefined if it is not there. */
function below(root, dir) {
	const relative = path.relative(root, dir);
	const outside = relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
	return outside ? undefined : relative;
}

/** The place of a directory as newer agents see it: below home, below the temp root, or neither. */
function placeOf(real) {
	const inHome = below(realPath(home()), real);
	if (inHome !== undefined) return { kind: "home", relative: inHome };
	const inTemp = below(realPath(os.tmpdir()), real);
	return inTemp === undefined ? { kind: "abs" } : { kind: "tmp", relative: inTemp };
}

function newerName({ kind, relative }, real) {
	if (kind === "home") return fittingName(`-${encoded(relative)}`, real);
	if (kind === "tmp") return fittingName(relative === "" ? "-tmp" : `-tmp-${encoded(relative)}`, real);
	return undefined;
}

/** The names that agents 17.2.5 to 17.2.8 gave, the fitting one first: home or temp root may have moved since. */
function hashedNames({ kind }, real) {
	const readable = path
		.basename(real)
		.replace(/[^A-Za-z0-9._-]+/g, "-")
		.replace(/^-+|-+$/g, "")
		.slice(-80);
	const rest = `${readable || "project"}-${sha256(real.replaceAll("\\", "/"))}`;
	return [...new Set([kind, "home", "tmp", "abs"])].map((prefix) => `${prefix}-${rest}`);
}

/**
 * The names that the directory of a project may have. A link to a project and the project itself are
 * one, so the document's name is that of the real path; `others` has that of the path as given.
 */
function sessionDirNames(cwd) {
	const resolved = withDriveLetter(path.resolve(cwd));
	const real = withDriveLetter(realPath(resolved));
	const place = placeOf(real);
	const others = hashedNames(place, real);
	if (real !== resolved) others.unshift(documentName(resolved));
	return { document: documentName(real), newer: newerName(place, real), others };
}

/** Which file or directory a path leads to; undefined if none. */
function identity(file) {
	const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
	return stat && { id: stat.ino === 0n ? undefined : `${stat.dev}:${stat.ino}`, isDirectory: stat.isDirectory() };
}

/**
 * All names of a project, the preferred first: where there is a directory of the newer name, a newer
 * agent would take what is in the others over into it.
 */
function allNames({ document, newer, others }) {
	return [...new Set([newer, document, ...others].filter((name) => name !== undefined))];
}

/** The existing directories of a project below a sessions root, under whatever name; each once. */
function knownSessionDirs(cwd, sessionsRoot) {
	const seen = new Set();
	const dirs = [];
	for (const name of allNames(sessionDirNames(cwd))) {
		const dir = path.join(sessionsRoot, name);
		const found = identity(dir);
		if (!found?.isDirectory || seen.has(found.id ?? dir)) continue;
		seen.add(found.id ?? dir);
		dirs.push(dir);
	}
	return dirs;
}

/** Whether a sessions root has directories named in the newer way. */
function hasNewerNames(sessionsRoot) {
	try {
		return fs.readdirSync(sessionsRoot).some((name) => name.startsWith("-") && !name.startsWith("--"));
	} catch {
		return false;
	}
}

/** The directory for new sessions of a project. */
function defaultSessionDir(cwd, sessionsRoot, { create }) {
	const [known] = knownSessionDirs(cwd, sessionsRoot);
	const dir = known ?? path.join(sessionsRoot, nameForNew(sessionDirNames(cwd), sessionsRoot));
	if (create) ensureDir(dir);
	return dir;
}

function nameForNew({ document, newer }, sessionsRoot) {
	return newer !== undefined && hasNewerNames(sessionsRoot) ? newer : document;
}

/** Whether a directory has one of the names that the project's directory may have. */
function isManagedDir(dir, cwd) {
	return allNames(sessionDirNames(cwd)).includes(path.basename(dir));
}

/** A path as it is compared: the names of Windows have no case. */
function comparable(dir) {
	return process.platform === "win32" ? dir.toLowerCase() : dir;
}

/** Whether two working directories are one project. */
function sameProject(cwd, other) {
	if (comparable(path.resolve(cwd)) === comparable(path.resolve(other))) return true;
	if (comparable(realPath(cwd)) === comparable(realPath(other))) return true;
	// File systems without case have several real paths for one directory.
	const id = identity(cwd)?.id;
	return id !== undefined && id === identity(other)?.id;
}

/** Whether two working directories share a directory by their names. */
function encodesToSameName(cwd, other) {
	const names = allNames(sessionDirNames(cwd));
	return allNames(sessionDirNames(other)).some((name) => names.includes(name));
}

/** Answers of `belongsTo` in this tick: a list asks the same of each session of a moved project. */
const answers = new Map();

/**
 * Whether a session in the directory of `cwd` is of this project: all are but those of another
 * project whose directory has the same name.
 */
function belongsTo(cwd, headerCwd) {
	if (headerCwd === cwd || headerCwd === "" || !path.isAbsolute(headerCwd)) return true;
	const question = `${cwd}\0${headerCwd}`;
	let answer = answers.get(question);
	if (answer === undefined) {
		answer = sameProject(cwd, headerCwd) || !encodesToSameName(cwd, headerCwd);
		if (answers.size === 0) queueMicrotask(() => answers.clear());
		answers.set(question, answer);
	}
	return answer;
}

/** Name of the file of a session created at `timestamp` (ISO 8601). */
function sessionFileName(timestamp, id) {
	return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

module.exports = {
	belongsTo,
	defaultSessionDir,
	encodesToSameName,
	ensureDir,
	getAgentDir,
	getBlobsDir,
	getSessionsDir,
	getTerminalSessionsDir,
	isManagedDir,
	knownSessionDirs,
	sameProject,
	sessionDirNames,
	sessionFileName,
};
