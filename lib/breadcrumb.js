/**
 * Breadcrumbs: which session a terminal was last on. A small file for each terminal with a line for
 * the working directory, one for the session file, and further lines that newer agents may add. They
 * are a convenience: nothing that goes wrong with them is ever an error.
 */

const fs = require("node:fs");
const path = require("node:path");
const { ensureDir, getTerminalSessionsDir, sameProject } = require("./places.js");

const VARIABLES = [
	["KITTY_WINDOW_ID", "kitty-"],
	["TMUX_PANE", "tmux-"],
	["TERM_SESSION_ID", "apple-"],
	["WT_SESSION", "wt-"],
];

function ttyName() {
	if (!process.stdin?.isTTY) return undefined;
	try {
		const device = fs.readlinkSync("/proc/self/fd/0");
		return device.startsWith("/dev/") ? device.slice("/dev/".length).replaceAll("/", "-") : undefined;
	} catch {
		return undefined;
	}
}

/** A name for this terminal that is safe as a file name; undefined if there is no terminal. */
function terminalId() {
	const tty = ttyName();
	if (tty !== undefined) return tty;
	for (const [variable, prefix] of VARIABLES) {
		const value = process.env[variable];
		if (value) return `${prefix}${value}`.replace(/[/\\\0]/g, "-").slice(0, 200);
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

/** Notes that this terminal is on a session; `fresh`: one that has no file yet. */
function writeBreadcrumb(cwd, sessionFile, { fresh }) {
	const file = breadcrumbFile();
	if (file === undefined || isInArtifactFolder(sessionFile)) return;
	const temp = `${file}.${process.pid}.tmp`;
	try {
		ensureDir(path.dirname(file));
		fs.writeFileSync(temp, `${cwd}\n${sessionFile}\n${fresh ? "fresh\n" : ""}`, { mode: 0o600 });
		fs.renameSync(temp, file);
	} catch {
		fs.rmSync(temp, { force: true });
	}
}

/**
 * What this terminal was last on, if it was in this working directory.
 * @returns {Promise<{ sessionFile: string, fresh: boolean, exists: boolean } | undefined>}
 */
async function readBreadcrumb(cwd) {
	const file = breadcrumbFile();
	if (file === undefined) return undefined;
	try {
		const [crumbCwd, sessionFile, ...extra] = (await fs.promises.readFile(file, "utf8")).split(/\r?\n/);
		if (!crumbCwd || !sessionFile || !sameProject(crumbCwd, cwd)) return undefined;
		const exists = fs.statSync(sessionFile, { throwIfNoEntry: false })?.isFile() ?? false;
		return { sessionFile, fresh: extra.includes("fresh"), exists };
	} catch {
		return undefined;
	}
}

module.exports = { readBreadcrumb, terminalId, writeBreadcrumb };
