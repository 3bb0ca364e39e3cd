/**
 * Where things are: the agent directory and the directories of projects below it. Environment,
 * home and working directory are read at each call, as programs change them while they run. Nothing
 * here renames or deletes.
 */

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { createHash } = require("node:crypto");

/** Longest file name that file systems take, in bytes. */
const NAME_BYTES = 255;

function home() {
	return process.env.HOME || os.homedir();
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
		return path.join(agentDir, name);
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

/** The path itself or, where it exists, what it really is. */
function realPath(dir) {
	const resolved = path.resolve(dir);
	try {
		return fs.realpathSync(resolved);
	} catch {
		return resolved;
	}
}

function withDriveLetter(dir) {
	return process.platform === "win32" ? dir.replace(/^[a-z]:/, (drive) => drive.toUpperCase()) : dir;
}

/** A name cut to what file systems take; the hash of the whole path keeps it apart from others. */
function fittingName(name, whole) {
	if (Buffer.byteLength(name) <= NAME_BYTES) return name;
	const hash = createHash("sha256").update(whole).digest("hex").slice(0, 32);
	let head = Buffer.from(name)
		.subarray(0, NAME_BYTES - hash.length - 3)
		.toString("utf8");
	head = head.replace(/\ufffd+$/, "");
	return `${head}-${hash}--`;
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

/** The name that agents 17.2.5 to 17.2.8 gave. */
function hashedName({ kind }, real) {
	const readable =
		path
			.basename(real)
			.replace(/[^A-Za-z0-9._-]+/g, "-")
			.replace(/^-+|-+$/g, "")
			.slice(-80) || "project";
	return `${kind}-${readable}-${createHash("sha256").update(real.replaceAll("\\", "/")).digest("hex")}`;
}

/** The names that the directory of a project may have. */
function sessionDirNames(cwd) {
	const resolved = withDriveLetter(path.resolve(cwd));
	const real = withDriveLetter(realPath(resolved));
	const place = placeOf(real);
	const names = { document: documentName(resolved), newer: newerName(place, real), others: [hashedName(place, real)] };
	if (real !== resolved) names.others.unshift(documentName(real));
	return names;
}

function isDirectory(dir) {
	return fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function allNames({ document, newer, others }) {
	return [...new Set([document, newer, ...others].filter((name) => name !== undefined))];
}

/** The existing directories of a project below a sessions root, under whatever name. */
function knownSessionDirs(cwd, sessionsRoot) {
	return allNames(sessionDirNames(cwd))
		.map((name) => path.join(sessionsRoot, name))
		.filter(isDirectory);
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
	const names = sessionDirNames(cwd);
	const [known] = knownSessionDirs(cwd, sessionsRoot);
	const name = names.newer !== undefined && hasNewerNames(sessionsRoot) ? names.newer : names.document;
	const dir = known ?? path.join(sessionsRoot, name);
	if (create) ensureDir(dir);
	return dir;
}

/** Whether a directory has one of the names that the project's directory may have. */
function isManagedDir(dir, cwd) {
	return allNames(sessionDirNames(cwd)).includes(path.basename(dir));
}

/** Whether two working directories are one project. */
function sameProject(cwd, other) {
	return path.resolve(cwd) === path.resolve(other) || realPath(cwd) === realPath(other);
}

/** Whether two working directories share a directory by their names. */
function encodesToSameName(cwd, other) {
	const names = allNames(sessionDirNames(cwd));
	return allNames(sessionDirNames(other)).some((name) => names.includes(name));
}

/**
 * Whether a session in the directory of `cwd` is of this project: all are but those of another
 * project whose directory has the same name.
 */
function belongsTo(cwd, headerCwd) {
	if (headerCwd === "" || !path.isAbsolute(headerCwd)) return true;
	return sameProject(cwd, headerCwd) || !encodesToSameName(cwd, headerCwd);
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
	realPath,
	sameProject,
	sessionDirNames,
	sessionFileName,
};
