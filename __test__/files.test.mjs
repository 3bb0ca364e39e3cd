import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import {
	FileSessionStorage,
	findMostRecentSession,
	getRecentSessions,
	loadEntriesFromFile,
	resolveResumableSession,
	SessionManager,
} from "../index.mjs";
import {
	assistant,
	conversation,
	entry,
	HEADER,
	idsOf,
	messageLine,
	text,
	textsOf,
	toolResult,
	user,
} from "./support/lines.mjs";
import { age, at, freshPlaces, place, readLines, write } from "./support/place.mjs";

freshPlaces();

const AGENT_DIR = "agent/sessions/--srv-garden--";

/** A session of the project in the agent's directory. */
function put(name, header = {}, ...lines) {
	return write(
		`${AGENT_DIR}/${name}.jsonl`,
		text({ ...HEADER, ...header }, ...(lines.length > 0 ? lines : conversation().slice(1))),
	);
}

describe("list", () => {
	test("gives every field, newest first, counted over the whole file", async () => {
		const old = put("old", { id: "old", title: "Old", parentSession: "/p.jsonl" });
		const recent = put(
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
		put("good");
		for (const name of ["bad.jsonl", ".hidden.jsonl", "good.jsonl.bak", "good/Helper.jsonl"]) {
			write(`${AGENT_DIR}/${name}`, name === "bad.jsonl" ? "{}\n" : text(...conversation()));
		}
		assert.deepEqual(
			(await SessionManager.list("/srv/garden")).map((info) => path.basename(info.path)),
			["good.jsonl"],
		);
		assert.equal((await SessionManager.listAll()).length, 1);
	});

	test("finds the first message behind a lot of other lines, and odd content does not hide a session", async () => {
		const init = entry(1, "session_init", { systemPrompt: "x".repeat(60_000), task: "", tools: [] });
		put(
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
		put("empty", {}, entry(1, "custom", { customType: "x" }));
		const [info] = await SessionManager.list("/srv/garden");
		assert.deepEqual([info.firstMessage, info.messageCount, info.allMessagesText], ["(no messages)", 0, ""]);
	});

	test("an unreadable time gives an invalid date and no error", async () => {
		put("odd", { timestamp: "some day" });
		const [info] = await SessionManager.list("/srv/garden");
		assert.equal(Number.isNaN(info.created.getTime()), true);
	});

	test("leaves out the sessions of a project whose directory has the same name, and no others", async () => {
		put("same", { cwd: "/srv/garden" });
		put("moved", { cwd: "/somewhere/else" });
		put("none", { cwd: undefined });
		put("colliding", { cwd: "/srv-garden" });
		const names = (infos) => infos.map((info) => path.basename(info.path, ".jsonl")).sort();
		assert.deepEqual(names(await SessionManager.list("/srv/garden")), ["moved", "none", "same"]);
		assert.deepEqual(names(await SessionManager.list("/srv-garden")), ["colliding", "moved", "none"]);
		assert.equal((await SessionManager.list("/srv/garden", at(AGENT_DIR))).length, 4);
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
			`${AGENT_DIR}/t.jsonl`,
			`${line.slice(0, -2)}${" ".repeat(255 - line.length)}"}\n${text({ ...HEADER, title: "Header" })}`,
		);
		assert.equal((await SessionManager.list("/srv/garden"))[0].title, "Slot");
	});

	test("gives no text for a file that went away since", async () => {
		const file = put("one");
		const [info] = await SessionManager.list("/srv/garden");
		fs.rmSync(file);
		assert.equal(info.allMessagesText, "");
	});
});

describe("recent sessions", () => {
	test("findMostRecentSession gives the newest that is a session", async () => {
		const one = put("one");
		const bad = write(`${AGENT_DIR}/bad.jsonl`, "no session\n");
		age(one, -5);
		age(bad, 5);
		assert.equal(await findMostRecentSession(at(AGENT_DIR)), one);
		assert.equal(await findMostRecentSession(at("nowhere")), null);
	});

	test("getRecentSessions names them by title, first message or id", async () => {
		const long = "A title that is quite a bit longer than forty characters\nand has a second line";
		const files = [
			put("a", { title: long }),
			put("b"),
			put("c", { id: "just-an-id" }, entry(1, "custom", { customType: "x" })),
			put("d"),
		];
		for (const [index, file] of files.entries()) age(file, -10 * (index + 1));
		const recent = await getRecentSessions(at(AGENT_DIR));
		assert.deepEqual(
			recent.map(({ path: file, name, fullName, timeAgo }) => [file, name, fullName, timeAgo]),
			[
				[files[0], "A title that is quite a bit longer than…", long.split("\n")[0], "10m ago"],
				[files[1], "one", "one", "20m ago"],
				[files[2], "just-an-id", "just-an-id", "30m ago"],
			],
		);
		assert.equal((await getRecentSessions(at(AGENT_DIR), 10)).length, 4);
		assert.deepEqual(await getRecentSessions(at("nowhere")), []);
	});

	test("resolveResumableSession goes by id, file name and the part after its last underscore", async () => {
		const file = put("2024-12-03T14-00-00-000Z_abcdef0000000001", { id: "0f5e55aa" });
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
		put("a", { id: "aa" });
		put("b", { id: "aab" });
		await assert.rejects(resolveResumableSession("a", "/srv/garden"), (error) => {
			assert.equal(error.code, "ERR_AMBIGUOUS_SESSION");
			assert.deepEqual(error.candidates.map(({ id }) => id).sort(), ["aa", "aab"]);
			return true;
		});
		assert.equal((await resolveResumableSession("aa", "/srv/garden")).session.id, "aa");
	});
});

describe("newSession and setSessionFile", () => {
	test("newSession starts over and keeps what was queued", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(assistant("first"));
		const first = session.getSessionFile();
		const second = await session.newSession({ parentSession: first });
		assert.equal(session.getSessionFile(), second);
		assert.notEqual(first, second);
		assert.equal(session.getHeader().parentSession, first);
		assert.deepEqual(
			[session.getEntries().length, session.getLeafId(), session.getSessionName()],
			[0, null, undefined],
		);
		session.appendMessage(assistant("second"));
		assert.deepEqual([readLines(first).length, readLines(second).length], [2, 2]);
	});

	test("setSessionFile switches, and each entry lands in its file", async () => {
		const one = write("s/one.jsonl", text(...conversation()));
		const two = write("s/two.jsonl", text({ ...HEADER, id: "two" }));
		const session = await SessionManager.open(one);
		session.appendMessage(user("for one"));
		await session.setSessionFile(two);
		assert.equal(session.getSessionId(), "two");
		session.appendMessage(user("for two"));
		await session.setSessionFile(one);
		session.appendMessage(user("again one"));
		assert.deepEqual([readLines(one).length, readLines(two).length], [7, 2]);
	});
});

describe("fork", () => {
	test("goes on in a copy with an id of its own and leaves the old file", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, title: "Beans", note: 1 }, ...conversation().slice(1)));
		const before = fs.readFileSync(file, "utf8");
		const session = await SessionManager.open(file);
		const { oldSessionFile, newSessionFile } = await session.fork();
		assert.equal(oldSessionFile, file);
		assert.equal(session.getSessionFile(), newSessionFile);
		session.appendMessage(user("only in the copy"));
		assert.equal(fs.readFileSync(file, "utf8"), before);
		const [header, ...lines] = readLines(newSessionFile);
		assert.notEqual(header.id, HEADER.id);
		assert.deepEqual([header.title, header.parentSession, header.version, header.note], ["Beans", HEADER.id, 3, 1]);
		assert.equal(lines.length, 5);
		assert.equal(fs.statSync(newSessionFile).mode & 0o077, 0);
	});

	test("writes a session that has no file yet", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		const { newSessionFile } = await session.fork();
		assert.equal(readLines(newSessionFile).length, 2);
		session.appendMessage(user("more"));
		assert.equal(readLines(newSessionFile).length, 3);
	});

	test("forkFrom copies history into another project", async () => {
		const source = write("s/one.jsonl", text({ ...HEADER, title: "Beans" }, ...conversation().slice(1)));
		fs.chmodSync(source, 0o400);
		const session = await SessionManager.forkFrom(source, "/srv/other");
		assert.equal(session.getSessionDir(), path.join(place.agent, "sessions", "--srv-other--"));
		assert.deepEqual(
			[session.getCwd(), session.getSessionName(), session.getHeader().parentSession],
			["/srv/other", "Beans", HEADER.id],
		);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["one", "two", "three", "four"]);
		session.appendMessage(user("five"));
		assert.equal(readLines(session.getSessionFile()).length, 6);
		await assert.rejects(SessionManager.forkFrom(at("nothing.jsonl"), "/srv/other"), { code: "ENOENT" });
	});
});

describe("moveTo", () => {
	test("takes file and artifacts to the other project", async () => {
		const session = SessionManager.create("/srv/garden");
		session.appendMessage(assistant("answer"));
		const id = await session.saveArtifact("output", "bash");
		const old = session.getSessionFile();
		await session.moveTo("/srv/shed");
		assert.equal(session.getSessionFile(), old.replace("--srv-garden--", "--srv-shed--"));
		assert.equal(fs.existsSync(old), false);
		assert.equal(fs.existsSync(old.slice(0, -6)), false);
		assert.equal(readLines(session.getSessionFile())[0].cwd, "/srv/shed");
		assert.equal(fs.readFileSync(await session.getArtifactPath(id), "utf8"), "output");
		session.appendMessage(user("after"));
		assert.equal(readLines(session.getSessionFile()).length, 3);
		assert.equal(session.getCwd(), "/srv/shed");
	});

	test("never onto something that is there", async () => {
		for (const blocked of ["file", "artifacts"]) {
			const session = SessionManager.create("/srv/garden");
			session.appendMessage(assistant("answer"));
			await session.saveArtifact("output", "bash");
			const old = session.getSessionFile();
			const target = old.replace("--srv-garden--", "--srv-shed--");
			fs.mkdirSync(path.dirname(target), { recursive: true });
			const inTheWay = blocked === "file" ? target : target.slice(0, -6);
			fs.writeFileSync(inTheWay, "somebody else's");
			await assert.rejects(session.moveTo("/srv/shed"), { code: "EEXIST", path: inTheWay });
			assert.equal(fs.readFileSync(inTheWay, "utf8"), "somebody else's");
			assert.deepEqual([session.getCwd(), session.getSessionFile(), readLines(old).length], ["/srv/garden", old, 2]);
			assert.equal(fs.existsSync(old.slice(0, -6)), true);
		}
	});

	test("of a session without a file only changes where it will be", async () => {
		const session = SessionManager.create("/srv/garden");
		session.appendMessage(user("question"));
		await session.moveTo("/srv/shed");
		assert.equal(fs.existsSync(session.getSessionFile()), false);
		session.appendMessage(assistant("answer"));
		assert.equal(readLines(session.getSessionFile())[0].cwd, "/srv/shed");
	});
});

describe("createBranchedSession", () => {
	const lines = () => [
		...conversation().slice(1, 3),
		entry(3, "label", { targetId: "00000001", label: "start" }),
		messageLine(4, user("three")),
		messageLine(5, assistant("four")),
		entry(6, "label", { targetId: "00000005", label: "not on the path" }),
	];

	test("writes the path without its labels, re-linked, and fresh labels behind it", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, title: "Beans" }, ...lines()));
		const before = fs.readFileSync(file, "utf8");
		const session = await SessionManager.open(file);
		const branched = session.createBranchedSession("00000004");
		assert.equal(session.getSessionFile(), branched);
		const [header, ...rest] = readLines(branched);
		assert.deepEqual([header.parentSession, header.title, header.cwd], [file, "Beans", "/srv/garden"]);
		assert.deepEqual(
			rest.map((line) => [line.type, line.parentId]),
			[
				["message", null],
				["message", "00000001"],
				["message", "00000002"],
				["label", "00000004"],
			],
		);
		assert.deepEqual([session.getLabel("00000001"), session.getLabel("00000005")], ["start", undefined]);
		assert.deepEqual(idsOf(session.getEntries()), idsOf(rest));
		assert.equal(session.getLeafId(), rest.at(-1).id);
		const id = session.appendMessage(assistant("new"));
		assert.equal(session.getEntry(id).parentId, rest.at(-1).id);
		assert.equal(fs.readFileSync(file, "utf8"), before);
		assert.equal((await SessionManager.open(branched)).getEntries().length, 5);
	});

	test("the returned path exists also without an answer, with one header", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const id = session.appendMessage(user("question"));
		const branched = session.createBranchedSession(id);
		assert.equal(readLines(branched).length, 2);
		session.appendMessage(assistant("answer"));
		assert.deepEqual(
			readLines(branched).map((line) => line.type),
			["session", "message", "message"],
		);
	});

	test("in memory it is the same without a file", () => {
		const session = SessionManager.inMemory("/srv/garden");
		const one = session.appendMessage(user("one"));
		session.appendLabelChange(one, "start");
		const two = session.appendMessage(assistant("two"));
		session.appendMessage(user("three"));
		const usage = session.getUsageStatistics();
		assert.equal(session.createBranchedSession(two), undefined);
		assert.deepEqual(
			session.getEntries().map((item) => item.type),
			["message", "message", "label"],
		);
		assert.equal(session.getEntry(two).parentId, one);
		assert.equal(session.getLabel(one), "start");
		assert.deepEqual(session.getUsageStatistics(), usage);
		assert.equal(session.getHeader().parentSession, undefined);
	});
});

describe("captureState and restoreState", () => {
	test("go back to the session as it was, and what was appended since comes with refresh", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, title: "Beans" }, ...conversation().slice(1)));
		const session = await SessionManager.open(file);
		const state = session.captureState();
		assert.deepEqual([state.sessionId, state.sessionName, state.sessionFile], [HEADER.id, "Beans", file]);
		const id = session.appendMessage(user("five"));
		await session.newSession();
		session.appendMessage(assistant("elsewhere"));
		session.restoreState(state);
		assert.deepEqual(
			[session.getSessionFile(), session.getSessionName(), session.getLeafId()],
			[file, "Beans", "00000004"],
		);
		assert.equal(session.getEntries().length, 4);
		assert.equal(session.getEntry(id), undefined);
		assert.equal(await session.refresh(), 1);
		assert.equal(session.getEntry(id).message.content, "five");
		session.appendMessage(user("six"));
		assert.equal(readLines(file).length, 7);
	});

	test("hold across a rewrite in between", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file);
		const state = session.captureState();
		session.appendMessage(user("five"));
		await session.setSessionName("A name that moves everything in the file");
		session.restoreState(state);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["one", "two", "three", "four"]);
		assert.equal(await session.refresh(), 1);
		session.appendMessage(user("six"));
		assert.deepEqual((await SessionManager.open(file)).getEntries().length, 6);
	});
});

describe("usage", () => {
	test("sums over replies and task results, counting a repeated line once", async () => {
		const reply = messageLine(2, assistant("two"));
		const task = messageLine(
			3,
			toolResult("x", { toolName: "task", details: { usage: { input: 100, cost: { total: 2 } } } }),
		);
		const other = messageLine(4, toolResult("x", { toolName: "bash", details: { usage: { input: 1000 } } }));
		const session = await SessionManager.open(write("s/one.jsonl", text(HEADER, reply, task, other, reply)));
		const expected = { input: 110, output: 5, cacheRead: 2, cacheWrite: 1, premiumRequests: 0, cost: 2.5 };
		assert.deepEqual(session.getUsageStatistics(), expected);
		session.appendMessage(assistant("more", { usage: { premiumRequests: 2 } }));
		assert.deepEqual(session.getUsageStatistics(), { ...expected, premiumRequests: 2 });
	});
});

describe("artifacts", () => {
	test("are counted on from what is in the folder", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		assert.equal(session.getArtifactsDir(), session.getSessionFile().slice(0, -".jsonl".length));
		assert.equal(await session.saveArtifact("zero", "bash"), "0");
		const { id, path: file } = await session.allocateArtifactPath("read");
		assert.deepEqual([id, path.basename(file)], ["1", "1.read.log"]);
		assert.equal(fs.readFileSync(await session.getArtifactPath("0"), "utf8"), "zero");
		assert.equal(await session.getArtifactPath("9"), null);
		assert.equal(await session.getArtifactPath("../x"), null);
		fs.writeFileSync(path.join(session.getArtifactsDir(), "41.x.log"), "");
		session.appendMessage(assistant("x"));
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(await again.saveArtifact("next", "../../bash"), "42");
		assert.equal(path.dirname(await again.getArtifactPath("42")), session.getArtifactsDir());
	});

	test("in memory have ids and no paths", async () => {
		const session = SessionManager.inMemory("/srv/garden");
		assert.deepEqual(await session.allocateArtifactPath("bash"), {});
		assert.equal(await session.saveArtifact("x", "bash"), "0");
		assert.equal(await session.saveArtifact("y", "bash"), "1");
		assert.equal(await session.getArtifactPath("0"), null);
	});

	test("go with the session when it is deleted, and so do its backups, and nothing else", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(assistant("x"));
		await session.saveArtifact("x", "bash");
		const name = path.basename(session.getSessionFile());
		for (const extra of [`${name}.bak-1`, `${name}.184.bak`, `.${name}.1.tmp`, "other.jsonl", `other-${name}.bak`])
			write(`s/${extra}`, "x");
		await new FileSessionStorage().deleteSessionWithArtifacts(session.getSessionFile());
		assert.deepEqual(fs.readdirSync(at("s")).sort(), [`other-${name}.bak`, "other.jsonl"]);
	});
});

describe("breadcrumbs", () => {
	const crumb = () => path.join(place.agent, "terminal-sessions", "apple-t1");

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
		const other = put("other", { id: "newer" });
		age(other, 10);
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionId(), session.getSessionId());
		process.env.TERM_SESSION_ID = "t2";
		assert.equal((await SessionManager.continueRecent("/srv/garden")).getSessionId(), "newer");
	});

	test("of a session without a file make continueRecent start a new one", async () => {
		process.env.TERM_SESSION_ID = "t1";
		put("old");
		SessionManager.create("/srv/garden");
		const session = await SessionManager.continueRecent("/srv/garden");
		assert.equal(session.getEntries().length, 0);
	});

	test("with further lines, of another directory, or unreadable, are no obstacle", async () => {
		process.env.TERM_SESSION_ID = "t1";
		const file = put("one");
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
});

test("loadEntriesFromFile gives header and entries as they are stored", async () => {
	const file = write("s/one.jsonl", text(...conversation()));
	assert.deepEqual(await loadEntriesFromFile(file), conversation());
	assert.deepEqual(await loadEntriesFromFile(at("nothing.jsonl")), []);
	const { version: _, ...old } = HEADER;
	const one = { type: "message", timestamp: HEADER.timestamp, message: { role: "hookMessage" } };
	assert.deepEqual(await loadEntriesFromFile(write("s/v1.jsonl", text(old, one))), [old, one]);
});
