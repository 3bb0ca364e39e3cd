/**
 * Breadcrumbs: which session a terminal was last on. A small file for each terminal with a line for
 * the working directory, one for the session file, and further lines that newer agents may add. They
 * are a convenience: nothing that goes wrong with them is ever an error.
 *
 * They are written in the call: a program that makes a session and ends at once has left its own.
 */

const fs = require("node:fs");
const path = require("node:path");
const { isatty } = require("node:tty");
const { randomUUID } = require("node:crypto");
const { namePart } = require("./file-name.js");
const { ensureDir, getTerminalSessionsDir, sameProject } = require("./places.js");

const VARIABLES = [
	["KITTY_WINDOW_ID", "kitty-"],
	["TMUX_PANE", "tmux-"],
	["TERM_SESSION_ID", "apple-"],
	["WT_SESSION", "wt-"],
];

/** Longest terminal id in bytes; the name of the temporary file has to fit too. */
const ID_BYTES = 200;

/** The terminal with a device number, where the system has no link that leads to it. */
function deviceByNumber(rdev) {
	for (const dir of ["/dev/pts", "/dev"]) {
		if (!fs.existsSync(dir)) continue;
		for (const name of fs.readdirSync(dir)) {
			if (dir === "/dev" && !/^tty./.test(name)) continue;
			const device = path.join(dir, name);
			const stat = fs.statSync(device, { throwIfNoEntry: false });
			if (stat?.isCharacterDevice() && stat.rdev === rdev) return device;
		}
	}
	return undefined;
}

/** Device path of the terminal on standard input. */
function ttyDevice() {
	// Making `process.stdin` changes what a pipe does, so the descriptor is asked first.
	if (process.platform === "win32" || !isatty(0) || !process.stdin?.isTTY) return undefined;
	try {
		return process.platform === "linux" ? fs.readlinkSync("/proc/self/fd/0") : deviceByNumber(fs.fstatSync(0).rdev);
	} catch {
		return undefined;
	}
}

/** A name for this terminal that is safe as a file name; undefined if there is no terminal. */
function terminalId() {
	const device = ttyDevice();
	if (device?.startsWith("/dev/")) return namePart(device.slice("/dev/".length), ID_BYTES);
	for (const [variable, prefix] of VARIABLES) {
		const value = process.env[variable];
		if (value) return namePart(`${prefix}${value}`, ID_BYTES);
	}
	return undefined;
}

function breadcrumbFile() {
	const id = terminalId();
	return id === undefined ? undefined : path.join(getTerminalSessionsDir(), id);
}

/** Sessions of helpers live in the artifact folder of the session that started them. */
function isInArtifactFolder(sessionFile) {
	return fs.existsSync(`${path.dirname(sessionFile)}.jsonl`);
}

function removeQuietly(file) {
	try {
		fs.rmSync(file, { force: true });
	} catch {
		// It cannot be removed where it could not be written.
	}
}

function holds(file, text) {
	try {
		return fs.readFileSync(file, "utf8") === text;
	} catch {
		return false;
	}
}

/** Readers see the old breadcrumb or the new one, never a part. */
function replace(file, text) {
	// Replacing a file costs a hundred times what reading it does.
	if (holds(file, text)) return;
	const dir = path.dirname(file);
	const temporary = path.join(dir, `.${randomUUID()}.tmp`);
	try {
		if (!fs.existsSync(dir)) ensureDir(dir);
		fs.writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
		fs.renameSync(temporary, file);
	} catch {
		removeQuietly(temporary);
	}
}

/** Notes that this terminal is on a session; `fresh`: one that has no file yet. */
function writeBreadcrumb(cwd, sessionFile, { fresh = false } = {}) {
	const file = breadcrumbFile();
	if (file === undefined || isInArtifactFolder(sessionFile)) return;
	const places = [path.resolve(cwd), path.resolve(sessionFile)];
	// Lines cannot hold such a path, and what the terminal was on before is no longer true.
	if (places.some((place) => /[\r\n]/.test(place))) removeQuietly(file);
	else replace(file, `${places.join("\n")}\n${fresh ? "fresh\n" : ""}`);
}

/**
 * What this terminal was last on, if it was in this working directory.
 * @returns {Promise<{ sessionFile: string, fresh: boolean, exists: boolean } | undefined>}
 */
async function readBreadcrumb(cwd) {
	const file = breadcrumbFile();
	if (file === undefined) return undefined;
	try {
		const [crumbCwd, crumbFile, ...extra] = (await fs.promises.readFile(file, "utf8")).split(/\r?\n/);
		if (!crumbCwd || !crumbFile || !sameProject(crumbCwd, cwd)) return undefined;
		const sessionFile = path.resolve(crumbCwd, crumbFile);
		const exists = fs.statSync(sessionFile, { throwIfNoEntry: false })?.isFile() ?? false;
		return { sessionFile, fresh: extra.includes("fresh"), exists };
	} catch {
		return undefined;
	}
}

module.exports = { readBreadcrumb, terminalId, writeBreadcrumb };
