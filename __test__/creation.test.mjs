import assert from "node:assert/strict";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { describe, test } from "node:test";
import * as api from "../index.mjs";
import { assistant, conversation, HEADER, text, user } from "./support/lines.mjs";
import { age, at, freshPlaces, place, readLines, write } from "./support/place.mjs";

const { SessionManager } = api;
freshPlaces();

test("require and import give the same names and the same class", () => {
	const required = createRequire(import.meta.url)("../index.js");
	assert.equal(required.SessionManager, SessionManager);
	assert.deepEqual(
		Object.keys(required).sort(),
		Object.keys(api)
			.filter((name) => name !== "default")
			.sort(),
	);
	assert.equal(api.CURRENT_SESSION_VERSION, 3);
});

describe("create", () => {
	test("makes the project's directory and no file before the first assistant message", async () => {
		const session = SessionManager.create("/srv/garden");
		assert.equal(session.getSessionDir(), path.join(place.agent, "sessions", "--srv-garden--"));
		assert.equal(fs.statSync(session.getSessionDir()).mode & 0o777, 0o700);
		const file = session.getSessionFile();
		assert.equal(path.dirname(file), session.getSessionDir());
		assert.match(path.basename(file), /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f]{16}\.jsonl$/);
		session.appendMessage(user("question"));
		await session.flush();
		assert.equal(fs.existsSync(file), false);
		session.appendMessage(assistant("answer"));
		assert.deepEqual(
			readLines(file).map((line) => line.type),
			["session", "message", "message"],
		);
		assert.equal(fs.statSync(file).mode & 0o777, 0o600);
	});

	test("gives the header its documented fields", () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		const { timestamp, id, ...rest } = session.getHeader();
		assert.deepEqual(rest, { type: "session", version: 3, cwd: "/srv/garden" });
		assert.equal(new Date(timestamp).toISOString(), timestamp);
		assert.match(id, /^[0-9a-f]{16}$/);
		assert.equal(session.getSessionId(), id);
		assert.ok(path.basename(session.getSessionFile()).startsWith(timestamp.replace(/[:.]/g, "-")));
	});

	test("session ids are times that never go back", () => {
		const ids = Array.from({ length: 500 }, () => SessionManager.inMemory("/srv").getSessionId());
		assert.equal(new Set(ids).size, ids.length);
		const times = ids.map((id) => BigInt(`0x${id}`) >> 22n);
		assert.ok(times.every((now, index) => index === 0 || now >= times[index - 1]));
		const milliseconds = Number(times[0]) + Date.UTC(2015, 0, 1);
		assert.ok(Math.abs(milliseconds - Date.now()) < 60_000);
	});

	test("refuses a file that is there when the first write comes", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		fs.writeFileSync(session.getSessionFile(), "somebody else's\n");
		assert.throws(() => session.appendMessage(assistant("answer")), {
			code: "ERR_SESSION_CONFLICT",
			path: session.getSessionFile(),
		});
		assert.equal(fs.readFileSync(session.getSessionFile(), "utf8"), "somebody else's\n");
		await assert.rejects(session.flush(), { code: "ERR_SESSION_CONFLICT" });
		fs.rmSync(session.getSessionFile());
		await session.flush();
		assert.equal(readLines(session.getSessionFile()).length, 3);
	});

	test("a directory that cannot be made is reported with its path", () => {
		const file = write("blocked", "a file");
		assert.throws(
			() => SessionManager.create("/srv/garden", path.join(file, "s")),
			(error) => {
				return ["ENOTDIR", "EEXIST"].includes(error.code) && error.path.startsWith(file);
			},
		);
	});
});

describe("open", () => {
	test("reads a session with its working directory, name and entries", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, title: "Beans" }, ...conversation().slice(1)));
		const session = await SessionManager.open(file);
		assert.equal(session.getCwd(), "/srv/garden");
		assert.equal(session.getSessionName(), "Beans");
		assert.equal(session.getSessionDir(), at("s"));
		assert.equal(session.getSessionFile(), file);
		assert.equal(session.getSessionId(), HEADER.id);
		assert.equal(session.getEntries().length, 4);
		assert.equal(session.getLeafId(), "00000004");
	});

	test("takes new sessions of the manager to the given directory", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file, at("other"));
		assert.equal(session.getSessionDir(), at("other"));
	});

	for (const [name, content] of [
		["missing", undefined],
		["empty", ""],
		["blank", " \r\n\t\n"],
	]) {
		test(`makes a ${name} file a session at once, at the same path`, async () => {
			const file = content === undefined ? at("s", "new.jsonl") : write("s/new.jsonl", content);
			const session = await SessionManager.open(file);
			assert.equal(session.getSessionFile(), file);
			assert.equal(readLines(file).filter((line) => line?.type === "session").length, 1);
			session.appendMessage(user("kept at once"));
			assert.equal(readLines(file).filter((line) => line?.type === "message").length, 1);
			const again = await SessionManager.open(file);
			assert.equal(again.getSessionId(), session.getSessionId());
			assert.equal(again.getEntries().length, 1);
		});
	}

	test("resolves a relative path against the working directory of the call", async () => {
		write("s/one.jsonl", text(...conversation()));
		const before = process.cwd();
		process.chdir(place.dir);
		try {
			const session = await SessionManager.open("s/one.jsonl");
			assert.equal(session.getSessionFile(), at("s/one.jsonl"));
		} finally {
			process.chdir(before);
		}
	});

	test("refuses a directory", async () => {
		await assert.rejects(SessionManager.open(place.dir), { code: "EISDIR", path: place.dir });
	});
});

describe("continueRecent", () => {
	test("goes on with the most recently changed session of the project", async () => {
		const old = write("s/old.jsonl", text({ ...HEADER, id: "old" }, ...conversation().slice(1)));
		const recent = write("s/recent.jsonl", text({ ...HEADER, id: "recent" }, ...conversation().slice(1)));
		age(old, -10);
		age(recent, -5);
		const session = await SessionManager.continueRecent("/srv/garden", at("s"));
		assert.equal(session.getSessionId(), "recent");
	});

	test("starts a new session where there is none", async () => {
		const session = await SessionManager.continueRecent("/srv/garden", at("s"));
		assert.equal(session.getEntries().length, 0);
		assert.equal(session.getCwd(), "/srv/garden");
	});

	test("never continues a session of another existing directory", async () => {
		fs.mkdirSync(at("other"));
		write("s/one.jsonl", text({ ...HEADER, cwd: at("other") }, ...conversation().slice(1)));
		const session = await SessionManager.continueRecent("/srv/garden", at("s"));
		assert.notEqual(session.getSessionId(), HEADER.id);
	});
});

describe("inMemory", () => {
	test("keeps everything in memory", async () => {
		const session = SessionManager.inMemory("/srv/garden");
		const id = session.appendMessage(assistant("answer"));
		await session.flush();
		await session.setSessionName("Name");
		assert.equal(session.isPersisted(), false);
		assert.equal(session.getSessionFile(), undefined);
		assert.equal(session.getArtifactsDir(), null);
		assert.equal(session.getEntry(id).message.content[0].text, "answer");
		assert.equal(session.getSessionName(), "Name");
		assert.equal(await session.fork(), undefined);
		assert.equal(fs.existsSync(place.agent), false);
	});

	test("takes the working directory of the call", () => {
		assert.equal(SessionManager.inMemory().getCwd(), process.cwd());
		assert.equal(SessionManager.inMemory(null).getCwd(), process.cwd());
	});
});
