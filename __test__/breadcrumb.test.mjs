import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeEach, describe, test } from "node:test";
import breadcrumb from "../lib/breadcrumb.js";
import { at, freshPlaces, place, write } from "./support/place.mjs";

const { readBreadcrumb, terminalId, writeBreadcrumb } = breadcrumb;

freshPlaces();

describe("the terminal's name", () => {
	test("is what the terminal says of itself, the first of several", () => {
		process.env.WT_SESSION = "4";
		assert.equal(terminalId(), "wt-4");
		process.env.TERM_SESSION_ID = "w0t0p0:3B";
		assert.equal(terminalId(), process.platform === "win32" ? "apple-w0t0p0-3B" : "apple-w0t0p0:3B");
		process.env.TMUX_PANE = "%2";
		assert.equal(terminalId(), "tmux-%2");
		process.env.KITTY_WINDOW_ID = "1";
		assert.equal(terminalId(), "kitty-1");
	});

	test("is missing without a terminal", () => {
		assert.equal(terminalId(), undefined);
		process.env.TMUX_PANE = "";
		assert.equal(terminalId(), undefined);
	});

	test("is one file name, whatever is in the variable", () => {
		process.env.TERM_SESSION_ID = "../../x\\y\nz";
		assert.equal(terminalId(), "apple-..-..-x-y-z");
		process.env.TERM_SESSION_ID = "植".repeat(500);
		assert.ok(Buffer.byteLength(terminalId()) <= 200);
		assert.ok(!terminalId().includes("\ufffd"));
	});
});

describe("a breadcrumb", () => {
	const dir = () => path.join(place.agent, "terminal-sessions");
	beforeEach(() => {
		process.env.TERM_SESSION_ID = "t";
	});

	test("leads back to the session", async () => {
		const file = write("s/one.jsonl", "{}\n");
		writeBreadcrumb("/srv/garden", file, { fresh: false });
		assert.deepEqual(await readBreadcrumb("/srv/garden/"), { sessionFile: file, fresh: false, exists: true });
		assert.equal(await readBreadcrumb("/srv/other"), undefined);
		assert.deepEqual(fs.readdirSync(dir()), ["apple-t"]);
		assert.equal(fs.statSync(dir()).mode & 0o777, 0o700);
		assert.equal(fs.statSync(path.join(dir(), "apple-t")).mode & 0o777, 0o600);
	});

	test("says that its session has no file yet", async () => {
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"), { fresh: true });
		assert.deepEqual(await readBreadcrumb("/srv/garden"), {
			sessionFile: at("s/one.jsonl"),
			fresh: true,
			exists: false,
		});
	});

	test("of a link is one of the project", async () => {
		fs.mkdirSync(at("real"));
		fs.symlinkSync(at("real"), at("link"));
		writeBreadcrumb(at("link"), at("s/one.jsonl"));
		assert.equal((await readBreadcrumb(at("real"))).sessionFile, at("s/one.jsonl"));
	});

	test("with further lines in any order, or carriage returns, is read", async () => {
		write("agent/terminal-sessions/apple-t", "/srv/garden\r\n/s/one.jsonl\r\ncwdstat 1 2\r\nfresh\r\nnew thing 7");
		assert.deepEqual(await readBreadcrumb("/srv/garden"), { sessionFile: "/s/one.jsonl", fresh: true, exists: false });
	});

	test("that is empty, cut or a directory leads nowhere", async () => {
		for (const text of ["", "\n", "/srv/garden", "/srv/garden\n\n"]) {
			write("agent/terminal-sessions/apple-t", text);
			assert.equal(await readBreadcrumb("/srv/garden"), undefined);
		}
		fs.rmSync(dir(), { recursive: true });
		fs.mkdirSync(path.join(dir(), "apple-t"), { recursive: true });
		assert.equal(await readBreadcrumb("/srv/garden"), undefined);
	});

	test("is not left by a session in another one's artifact folder", () => {
		write("s/parent.jsonl", "{}\n");
		writeBreadcrumb("/srv/garden", at("s/parent/Helper.jsonl"));
		assert.equal(fs.existsSync(dir()), false);
	});

	test("is taken away for paths that its lines cannot hold", async () => {
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"));
		writeBreadcrumb("/srv/garden", at("s/two\nlines.jsonl"));
		assert.equal(await readBreadcrumb("/srv/garden"), undefined);
		assert.deepEqual(fs.readdirSync(dir()), []);
	});

	test("that stays the same is not written again", () => {
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"));
		const file = path.join(dir(), "apple-t");
		const { ino } = fs.statSync(file);
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"));
		assert.equal(fs.statSync(file).ino, ino);
	});

	test("that cannot be written is no error and leaves nothing behind", async () => {
		write("agent/terminal-sessions/apple-t/inner", "");
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"));
		assert.deepEqual(fs.readdirSync(dir()), ["apple-t"]);
		fs.rmSync(dir(), { recursive: true });
		write("agent/terminal-sessions", "a file in the way");
		writeBreadcrumb("/srv/garden", at("s/one.jsonl"));
		writeBreadcrumb("/srv/garden", at("s/two\nlines.jsonl"));
		assert.equal(await readBreadcrumb("/srv/garden"), undefined);
	});
});
