import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, text } from "./support/lines.mjs";
import { age, at, freshPlaces, write } from "./support/place.mjs";
import { crumbOf, putSession } from "./support/sessions.mjs";

freshPlaces();

describe("breadcrumbs", () => {
	const crumb = () => crumbOf("apple-t1");

	test("lead continueRecent to this terminal's session", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const session = SessionManager.create("/srv/garden");
		assert.deepEqual(fs.readFileSync(crumb(), "utf8").split("\n"), [
			"/srv/garden",
			session.getSessionFile(),
			"fresh",
			"",
		]);
		session.appendMessage(assistant("mine"));
		assert.deepEqual(fs.readFileSync(crumb(), "utf8").split("\n"), ["/srv/garden", session.getSessionFile(), ""]);
		const other = putSession("other", { id: "newer" });
		age(other, 10);
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionId(), session.getSessionId());
		process.env.TERM_SESSION_ID = "t2";
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionId(), "newer");
	});

	test("of a session without a file make continueRecent start a new one", async () => {
		process.env.TERM_SESSION_ID = "t1";
		putSession("old");
		SessionManager.create("/srv/garden");
		const session = await SessionManager.continueRecent("/srv/garden");
		assert.equal(session.getEntries().length, 0);
	});

	test("with further lines, of another directory, or unreadable, are no obstacle", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const file = putSession("one");
		write("agent/terminal-sessions/apple-t1", `/srv/garden\n${file}\ncwdstat 1 2\nanything\n`);
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionFile(), file);
		write("agent/terminal-sessions/apple-t1", `/srv/other\n${file}\n`);
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionFile(), file);
		fs.rmSync(crumb());
		fs.mkdirSync(crumb());
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionFile(), file);
	});

	test("are not left by sessions in another session's artifact folder", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const parent = write("s/parent.jsonl", text(...conversation()));
		await SessionManager.open(parent);
		const before = fs.readFileSync(crumb(), "utf8");
		SessionManager.create("/srv/garden", at("s/parent"));
		assert.equal(fs.readFileSync(crumb(), "utf8"), before);
	});

	for (const [variable, name] of [
		["KITTY_WINDOW_ID", "kitty-7"],
		["TMUX_PANE", "tmux-7"],
		["TERM_SESSION_ID", "apple-7"],
		["WT_SESSION", "wt-7"],
	]) {
		test(`are named after ${variable}`, () => {
			process.env[variable] = "7";
			SessionManager.create("/srv/garden");
			assert.deepEqual(fs.readdirSync(path.dirname(crumbOf(name))), [name]);
		});
	}

	test("are left by create, open, newSession, setSessionFile, moveTo, restoreState and forkFrom", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const file = putSession("one");
		/** The first two lines, taken away so that the next call has to write them. */
		const take = () => {
			const lines = fs.readFileSync(crumb(), "utf8").split("\n").slice(0, 2);
			fs.rmSync(crumb());
			return lines;
		};
		SessionManager.create("/srv/garden");
		take();
		const session = await SessionManager.open(file);
		assert.deepEqual(take(), ["/srv/garden", file]);
		const state = session.captureState();
		const next = await session.newSession();
		assert.deepEqual(take(), ["/srv/garden", next]);
		await session.setSessionFile(file);
		assert.deepEqual(take(), ["/srv/garden", file]);
		await session.newSession();
		take();
		session.restoreState(state);
		assert.deepEqual(take(), ["/srv/garden", file]);
		const forked = await SessionManager.forkFrom(file, "/srv/other");
		assert.deepEqual(take(), ["/srv/other", forked.getSessionFile()]);
		await session.moveTo("/srv/shed");
		assert.deepEqual(take(), ["/srv/shed", session.getSessionFile()]);
	});

	test("are not touched by fork and createBranchedSession, nor by sessions in memory", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const session = await SessionManager.open(putSession("one"));
		const before = fs.readFileSync(crumb(), "utf8");
		await session.fork();
		session.createBranchedSession("00000002");
		SessionManager.inMemory("/srv/garden");
		assert.equal(fs.readFileSync(crumb(), "utf8"), before);
	});

	test("are not written where there is no terminal", () => {
		SessionManager.create("/srv/garden");
		assert.equal(fs.existsSync(path.dirname(crumb())), false);
	});

	test("that cannot be written are no error", async () => {
		process.env.TERM_SESSION_ID = "t1";
		write("agent/terminal-sessions", "a file in the way");
		const session = SessionManager.create("/srv/garden");
		session.appendMessage(assistant("kept"));
		await session.close();
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionId(), session.getSessionId());
	});
});
