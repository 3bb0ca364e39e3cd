import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { FileSessionStorage, SessionManager } from "../index.mjs";
import { assistant, conversation, entry, HEADER, idsOf, messageLine, text, textsOf, user } from "./support/lines.mjs";
import { at, freshPlaces, place, readLines, write } from "./support/place.mjs";

freshPlaces();

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

	test("what is called without waiting for them is about the session that they lead to", async () => {
		const one = write("s/one.jsonl", text(...conversation()));
		const two = write("s/two.jsonl", text({ ...HEADER, id: "two" }));
		const before = fs.readFileSync(one, "utf8");
		const session = await SessionManager.open(one);
		await Promise.all([session.setSessionFile(two), session.setSessionName("Two"), session.newSession()]);
		assert.equal(fs.readFileSync(one, "utf8"), before);
		assert.equal(readLines(two)[0].title, "Two");
		assert.deepEqual([session.getEntries().length, session.getSessionName()], [0, undefined]);
	});
});

describe("setSessionName", () => {
	test("is what getSessionName, the header, the file and the list say", async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text(...conversation())));
		assert.equal(session.getSessionName(), undefined);
		for (const name of ["Beans", "日本 \u{1f9ea}", 'with "quotes"\nand a line']) {
			await session.setSessionName(name);
			assert.deepEqual([session.getSessionName(), session.getHeader().title], [name, name]);
			assert.equal(readLines(session.getSessionFile())[0].title, name);
			assert.equal((await SessionManager.open(session.getSessionFile())).getSessionName(), name);
			assert.equal((await SessionManager.list("/srv/garden", at("s")))[0].title, name);
		}
		assert.equal(readLines(session.getSessionFile()).length, 5);
	});

	test("with an empty text clears the name", async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text({ ...HEADER, title: "Beans" })));
		await session.setSessionName("");
		assert.equal(session.getSessionName() || undefined, undefined);
		const again = await SessionManager.open(session.getSessionFile());
		assert.equal(again.getSessionName() || undefined, undefined);
	});

	test("of a session without a file is in the file when it comes", async () => {
		const session = SessionManager.create("/srv/garden", at("s"));
		session.appendMessage(user("question"));
		await session.setSessionName("Beans");
		assert.equal(fs.existsSync(session.getSessionFile()), false);
		session.appendMessage(assistant("answer"));
		assert.equal(readLines(session.getSessionFile())[0].title, "Beans");
	});

	test("that ends in half a surrogate pair goes into the file and along to every copy", async () => {
		const name = "cut in the middle of \ud83e";
		const slot = JSON.stringify({ type: "title", v: 1, title: "Old", source: "auto", pad: " ".repeat(200) });
		for (const before of [[], [slot]]) {
			const session = await SessionManager.open(write("s/half.jsonl", text(...before, ...conversation())));
			const reopened = async (file) => (await SessionManager.open(file)).getSessionName();
			await session.setSessionName(name);
			assert.equal(await reopened(session.getSessionFile()), name);
			const { newSessionFile } = await session.fork();
			assert.equal(await reopened(newSessionFile), name);
			const branched = session.createBranchedSession(session.getLeafId());
			assert.equal(await reopened(branched), name);
			await session.moveTo(at("elsewhere"));
			assert.equal(await reopened(session.getSessionFile()), name);
			await session.close();
		}
	});

	test("calls that are not awaited take effect in their order", async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text(...conversation())));
		const calls = ["one", "two", "three"].map((name) => session.setSessionName(name));
		session.appendMessage(user("meanwhile"));
		await Promise.all(calls);
		await session.close();
		const lines = readLines(session.getSessionFile());
		assert.deepEqual([lines[0].title, lines.length], ["three", 6]);
	});
});

describe("fork", () => {
	test("makes the directory that new sessions go to", async () => {
		const session = await SessionManager.open(write("s/one.jsonl", text(...conversation())), at("new/deep"));
		const { newSessionFile } = await session.fork();
		await session.close();
		assert.equal(path.dirname(newSessionFile), at("new/deep"));
		assert.equal(readLines(newSessionFile).length, 5);
	});

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

	test("to the working directory that it has leaves a session in a directory of its own there", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file);
		await session.moveTo("/srv/garden");
		assert.deepEqual([session.getSessionFile(), fs.existsSync(file)], [file, true]);
	});

	test("to where the session is already changes nothing", async () => {
		const session = SessionManager.create("/srv/garden");
		session.appendMessage(assistant("answer"));
		const file = session.getSessionFile();
		const before = fs.statSync(file, { bigint: true });
		await session.moveTo("/srv/shed/../garden");
		assert.deepEqual([session.getSessionFile(), session.getCwd()], [file, "/srv/garden"]);
		assert.equal(fs.statSync(file, { bigint: true }).mtimeNs, before.mtimeNs);
	});

	test("in memory changes the working directory", async () => {
		const session = SessionManager.inMemory("/srv/garden");
		await session.moveTo("/srv/shed");
		assert.deepEqual([session.getCwd(), session.getHeader().cwd], ["/srv/shed", "/srv/shed"]);
		assert.equal(fs.existsSync(place.agent), false);
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

	test("bring back the name that the session had", async () => {
		const file = write("s/one.jsonl", text({ ...HEADER, title: "Beans" }, ...conversation().slice(1)));
		const session = await SessionManager.open(file);
		const state = session.captureState();
		await session.setSessionName("Peas");
		session.restoreState(state);
		assert.equal(session.getSessionName(), "Beans");
	});

	test("work in memory and before the file exists, more than once", async () => {
		for (const session of [SessionManager.inMemory("/srv"), SessionManager.create("/srv", at("s"))]) {
			const id = session.appendMessage(user("one"));
			const state = session.captureState();
			for (let round = 0; round < 2; round++) {
				await session.newSession();
				session.appendMessage(user("elsewhere"));
				session.restoreState(state);
				assert.deepEqual([idsOf(session.getEntries()), session.getLeafId()], [[id], id]);
				assert.equal(session.getSessionId(), state.sessionId);
			}
		}
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
