import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { findMostRecentSession, getRecentSessions, resolveResumableSession, SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, messageLine, text, user } from "./support/lines.mjs";
import { age, at, freshPlaces, place, write } from "./support/place.mjs";
import { PROJECT_DIR, putSession } from "./support/sessions.mjs";

freshPlaces();

describe("list", () => {
	test("gives every field, newest first, counted over the whole file", async () => {
		const old = putSession("old", { id: "old", title: "Old", parentSession: "/p.jsonl" });
		const recent = putSession(
			"recent",
			{ id: "recent" },
			...conversation().slice(1),
			entry(5, "compaction", { summary: "s", shortSummary: "recap", firstKeptEntryId: "x", tokensBefore: 1 }),
		);
		age(old, -10);
		age(recent, -5);
		const [first, second, ...rest] = await SessionManager.list("/srv/garden");
		assert.equal(rest.length, 0);
		assert.deepEqual([first.id, first.title, first.parentSessionPath], ["recent", "recap", undefined]);
		assert.deepEqual(
			{ ...second, modified: 0 },
			{
				path: old,
				id: "old",
				cwd: "/srv/garden",
				title: "Old",
				parentSessionPath: "/p.jsonl",
				created: new Date(HEADER.timestamp),
				modified: 0,
				messageCount: 4,
				firstMessage: "one",
				allMessagesText: "one two three four",
			},
		);
		assert.ok(Math.abs(second.modified.getTime() - fs.statSync(old).mtimeMs) <= 1);
	});

	test("passes over files that are no sessions, hidden ones and artifact folders", async () => {
		putSession("good");
		for (const name of ["bad.jsonl", ".hidden.jsonl", "good.jsonl.bak", "good/Helper.jsonl"]) {
			write(`${PROJECT_DIR}/${name}`, name === "bad.jsonl" ? "{}\n" : text(...conversation()));
		}
		assert.deepEqual(
			(await SessionManager.list("/srv/garden")).map((info) => path.basename(info.path)),
			["good.jsonl"],
		);
		write("agent/sessions/.trash/old.jsonl", text(...conversation()));
		write("agent/sessions/stray.jsonl", text(...conversation()));
		assert.equal((await SessionManager.listAll()).length, 1);
	});

	test("finds the first message behind a lot of other lines, and odd content does not hide a session", async () => {
		const init = entry(1, "session_init", { systemPrompt: "x".repeat(60_000), task: "", tools: [] });
		putSession(
			"late",
			{},
			init,
			messageLine(
				2,
				user([{ type: "image", data: "", mimeType: "" }, { type: "text", text: "the question" }, null, 7]),
			),
			messageLine(3, null),
			messageLine(4, { role: "user" }),
		);
		const [info] = await SessionManager.list("/srv/garden");
		assert.deepEqual([info.firstMessage, info.messageCount, info.allMessagesText], ["the question", 2, "the question"]);
	});

	test("a session without messages says so", async () => {
		putSession("empty", {}, entry(1, "custom", { customType: "x" }));
		const [info] = await SessionManager.list("/srv/garden");
		assert.deepEqual([info.firstMessage, info.messageCount, info.allMessagesText], ["(no messages)", 0, ""]);
	});

	test("an unreadable time gives an invalid date and no error", async () => {
		putSession("odd", { timestamp: "some day" });
		const [info] = await SessionManager.list("/srv/garden");
		assert.equal(Number.isNaN(info.created.getTime()), true);
	});

	test("leaves out the sessions of a project whose directory has the same name, and no others", async () => {
		putSession("same", { cwd: "/srv/garden" });
		putSession("moved", { cwd: "/somewhere/else" });
		putSession("none", { cwd: undefined });
		putSession("colliding", { cwd: "/srv-garden" });
		const names = (infos) => infos.map((info) => path.basename(info.path, ".jsonl")).sort();
		assert.deepEqual(names(await SessionManager.list("/srv/garden")), ["moved", "none", "same"]);
		assert.deepEqual(names(await SessionManager.list("/srv-garden")), ["colliding", "moved", "none"]);
		assert.equal((await SessionManager.list("/srv/garden", at(PROJECT_DIR))).length, 4);
	});

	test("creates nothing", async () => {
		assert.deepEqual(await SessionManager.list("/srv/garden"), []);
		assert.deepEqual(await SessionManager.listAll(), []);
		assert.equal(await resolveResumableSession("x", "/srv/garden"), undefined);
		assert.equal(fs.existsSync(place.agent), false);
	});

	test("sees a title line's title", async () => {
		const line = JSON.stringify({ type: "title", v: 1, title: "Slot", updatedAt: HEADER.timestamp, pad: "" });
		write(
			`${PROJECT_DIR}/t.jsonl`,
			`${line.slice(0, -2)}${" ".repeat(255 - line.length)}"}\n${text({ ...HEADER, title: "Header" })}`,
		);
		assert.equal((await SessionManager.list("/srv/garden"))[0].title, "Slot");
	});

	test("gives no text for a file that went away since", async () => {
		const file = putSession("one");
		const [info] = await SessionManager.list("/srv/garden");
		fs.rmSync(file);
		assert.equal(info.allMessagesText, "");
	});

	test("listAll goes through every project, newest first, also where its directory is a link", async () => {
		const garden = putSession("one");
		const shed = write("agent/sessions/--srv-shed--/two.jsonl", text({ ...HEADER, id: "two", cwd: "/srv/shed" }));
		const linked = write("elsewhere/three.jsonl", text({ ...HEADER, id: "three" }));
		fs.symlinkSync(at("elsewhere"), at("agent/sessions/--srv-link--"));
		fs.symlinkSync(at("nowhere"), at("agent/sessions/--srv-broken--"));
		for (const [index, file] of [shed, linked, garden].entries()) age(file, -index - 1);
		const infos = await SessionManager.listAll();
		assert.deepEqual(
			infos.map((info) => [info.id, info.cwd]),
			[
				["two", "/srv/shed"],
				["three", "/srv/garden"],
				[HEADER.id, "/srv/garden"],
			],
		);
	});

	test("sees a session of this process as soon as its file is there", async () => {
		const session = SessionManager.create("/srv/garden");
		session.appendMessage(user("a question"));
		assert.equal((await SessionManager.list("/srv/garden")).length, 0);
		session.appendMessage(assistant("an answer"));
		await session.setSessionName("Beans");
		const [info] = await SessionManager.list("/srv/garden");
		assert.deepEqual(
			[info.path, info.title, info.firstMessage, info.messageCount],
			[session.getSessionFile(), "Beans", "a question", 2],
		);
	});

	test("has an old session and one of a newer agent in it", async () => {
		const { version: _, ...old } = HEADER;
		write(`${PROJECT_DIR}/old.jsonl`, text(old, { type: "message", timestamp: HEADER.timestamp, message: user("v1") }));
		putSession("new", { id: "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b", version: 9 });
		const infos = await SessionManager.list("/srv/garden");
		assert.deepEqual(infos.map((info) => info.firstMessage).sort(), ["one", "v1"]);
		assert.ok(infos.some((info) => info.id.startsWith("0193a1b2-")));
	});
});

describe("recent sessions", () => {
	test("findMostRecentSession gives the newest that is a session", async () => {
		const one = putSession("one");
		const bad = write(`${PROJECT_DIR}/bad.jsonl`, "no session\n");
		age(one, -5);
		age(bad, 5);
		assert.equal(await findMostRecentSession(at(PROJECT_DIR)), one);
		assert.equal(await findMostRecentSession(at("nowhere")), null);
	});

	test("getRecentSessions takes a name from messages only, not from what another type of entry holds", async () => {
		putSession("one", {}, entry(1, "draft", { message: user("draft") }), messageLine(2, user("question")));
		const [recent] = await getRecentSessions(at(PROJECT_DIR));
		assert.equal(recent.fullName, "question");
		assert.equal((await SessionManager.list("/srv/garden"))[0].firstMessage, recent.fullName);
	});

	test("getRecentSessions names them by title, first message or id", async () => {
		const long = "A title that is quite a bit longer than forty characters\nand has a second line";
		const files = [
			putSession("a", { title: long }),
			putSession("b"),
			putSession("c", { id: "just-an-id" }, entry(1, "custom", { customType: "x" })),
			putSession("d"),
		];
		for (const [index, file] of files.entries()) age(file, -10 * (index + 1));
		const recent = await getRecentSessions(at(PROJECT_DIR));
		assert.deepEqual(
			recent.map(({ path: file, name, fullName, timeAgo }) => [file, name, fullName, timeAgo]),
			[
				[files[0], "A title that is quite a bit longer than…", long.split("\n")[0], "10m ago"],
				[files[1], "one", "one", "20m ago"],
				[files[2], "just-an-id", "just-an-id", "30m ago"],
			],
		);
		assert.equal((await getRecentSessions(at(PROJECT_DIR), 10)).length, 4);
		assert.deepEqual(await getRecentSessions(at("nowhere")), []);
	});

	test("a file of exactly ten minutes is not called one of nine", async () => {
		const file = putSession("a");
		// As a number of nanoseconds this time has more digits than a double keeps.
		const time = new Date(1_796_120_914_286);
		fs.utimesSync(file, time, time);
		const [recent] = await getRecentSessions(at(PROJECT_DIR));
		assert.equal(recent.mtime, time.getTime());
	});

	test("resolveResumableSession goes by id, file name and the part after its last underscore", async () => {
		const file = putSession("2024-12-03T14-00-00-000Z_abcdef0000000001", { id: "0f5e55aa" });
		for (const argument of ["0f5e55aa", "0F5E", "2024-12-03t14", "abcdef"]) {
			const match = await resolveResumableSession(argument, "/srv/garden");
			assert.deepEqual([match.session.path, match.scope], [file, "local"]);
		}
		assert.equal((await resolveResumableSession("0f5e", "/srv/other")).scope, "global");
		assert.equal(await resolveResumableSession("0f5e", "/srv/other", at("elsewhere")), undefined);
		assert.equal(await resolveResumableSession("", "/srv/garden"), undefined);
		assert.equal(await resolveResumableSession("nothing", "/srv/garden"), undefined);
	});

	test("an ambiguous beginning is refused with the candidates, an exact id wins", async () => {
		putSession("a", { id: "aa" });
		putSession("b", { id: "aab" });
		await assert.rejects(resolveResumableSession("a", "/srv/garden"), (error) => {
			assert.equal(error.code, "ERR_AMBIGUOUS_SESSION");
			assert.deepEqual(error.candidates.map(({ id }) => id).sort(), ["aa", "aab"]);
			return true;
		});
		assert.equal((await resolveResumableSession("aa", "/srv/garden")).session.id, "aa");
	});

	test("a header and a first message of any length hide nothing and are not mislabelled", async () => {
		const long = "x".repeat(50_000);
		const file = putSession("long", { note: long, title: undefined }, messageLine(1, user(`${long} end`)));
		assert.equal(await findMostRecentSession(at(PROJECT_DIR)), file);
		const [recent] = await getRecentSessions(at(PROJECT_DIR));
		assert.equal(recent.fullName.startsWith("xxx"), true);
		assert.equal(recent.name.length, 40);
		const match = await resolveResumableSession(HEADER.id.slice(0, 6), "/srv/garden");
		assert.equal(match.session.firstMessage, `${long} end`);
	});

	test("getRecentSessions takes null for its default, gives none for 0 and all for Infinity", async () => {
		for (const name of ["a", "b", "c", "d"]) putSession(name, { id: name });
		assert.equal((await getRecentSessions(at(PROJECT_DIR), null)).length, 3);
		assert.equal((await getRecentSessions(at(PROJECT_DIR), undefined)).length, 3);
		assert.deepEqual(await getRecentSessions(at(PROJECT_DIR), 0), []);
		assert.equal((await getRecentSessions(at(PROJECT_DIR), Number.POSITIVE_INFINITY)).length, 4);
	});

	test("a session of the project is found before one of another project with the same beginning", async () => {
		const own = putSession("own", { id: "abc1" });
		write("agent/sessions/--srv-shed--/other.jsonl", text({ ...HEADER, id: "abc2", cwd: "/srv/shed" }));
		const match = await resolveResumableSession("abc", "/srv/garden");
		assert.deepEqual([match.session.path, match.scope], [own, "local"]);
		const other = await resolveResumableSession("abc2", "/srv/garden");
		assert.deepEqual([other.session.id, other.scope], ["abc2", "global"]);
		await assert.rejects(resolveResumableSession("abc", "/srv/third"), { code: "ERR_AMBIGUOUS_SESSION" });
	});
});
