/** A fresh folder for each test, with the agent directory in it. */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, beforeEach } from "node:test";

export { readLines } from "./read-lines.mjs";

const made = [];

/** Folder of the running test. */
export const place = { dir: "", agent: "", home: "" };

const VARIABLES = [
	"KITTY_WINDOW_ID",
	"TMUX_PANE",
	"TERM_SESSION_ID",
	"WT_SESSION",
	"XDG_DATA_HOME",
	"XDG_STATE_HOME",
	"PI_CONFIG_DIR",
];

/** Gives every test of the file a folder of its own; call it once at the top. */
export function freshPlaces() {
	beforeEach(() => {
		place.dir = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "omp-session-test-"));
		place.agent = path.join(place.dir, "agent");
		place.home = path.join(place.dir, "home");
		made.push(place.dir);
		for (const name of VARIABLES) delete process.env[name];
		// A terminal has precedence over the variables that tests set to name one.
		if (process.stdin.isTTY) process.stdin.isTTY = false;
		process.env.PI_CODING_AGENT_DIR = place.agent;
		process.env.HOME = place.home;
		fs.mkdirSync(place.home);
	});
	after(() => {
		for (const dir of made.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
	});
}

/** A path in the test's folder. */
export function at(...names) {
	return path.join(place.dir, ...names);
}

/** Writes a file and returns its path. */
export function write(name, content) {
	const file = at(name);
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.writeFileSync(file, content);
	return file;
}

/** Changes the time of a file; minutes from now. */
export function age(file, minutes) {
	const time = new Date(Date.now() + minutes * 60_000);
	fs.utimesSync(file, time, time);
}
