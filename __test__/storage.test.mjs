import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import {
	FileSessionStorage,
	findMostRecentSession,
	getRecentSessions,
	loadEntriesFromFile,
	MemorySessionStorage,
	resolveResumableSession,
	SessionManager,
} from "../index.mjs";
import { assistant, conversation, HEADER, idsOf, text, textsOf, user } from "./support/lines.mjs";
import { at, freshPlaces, place, write } from "./support/place.mjs";

freshPlaces();

const FILE = "/store/one.jsonl";

function memory() {
	const storage = new MemorySessionStorage();
	storage.writeTextSync(FILE, text(...conversation()));
	return storage;
}

async function lines(storage, file) {
	return (await storage.readText(file))
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line));
}

/** A storage whose writers fail while `failing` holds an error. */
class Flaky extends MemorySessionStorage {
	failing;

	openWriter(file, options) {
		const writer = super.openWriter(file, options);
		return {
			writeLine: async (line) => {
				if (this.failing) throw this.failing;
				await writer.writeLine(line);
			},
			flush: () => writer.flush(),
			fsync: () => writer.fsync(),
			close: () => writer.close(),
			getError: () => this.failing,
		};
	}
}

describe("a session in a storage object", () => {
	test("is opened, read, appended to and reopened without the file system", async () => {
		const storage = memory();
		const session = await SessionManager.open(FILE, undefined, storage);
		assert.deepEqual(textsOf(session.buildSessionContext().messages), ["one", "two", "three", "four"]);
		const id = session.appendMessage(user("five"));
		await session.close();
		assert.equal((await lines(storage, FILE)).at(-1).id, id);
		const again = await SessionManager.open(FILE, undefined, storage);
		assert.deepEqual(idsOf(again.getEntries()), idsOf(session.getEntries()));
		assert.equal(fs.existsSync("/store"), false);
	});

	test("appears with the first answer", async () => {
		const storage = new MemorySessionStorage();
		const session = SessionManager.create("/srv/garden", "/store", storage);
		session.appendMessage(user("one"));
		await session.flush();
		assert.equal(storage.existsSync(session.getSessionFile()), false);
		session.appendMessage(assistant("two"));
		session.appendMessage(user("three"));
		await session.flush();
		assert.equal((await lines(storage, session.getSessionFile())).length, 4);
	});

	test("is renamed, edited, forked, branched and moved", async () => {
		const storage = memory();
		const session = await SessionManager.open(FILE, undefined, storage);
		await session.setSessionName("Beans");
		session.getEntries()[0].message.content = "edited";
		await session.rewriteEntries();
		const [header, first] = await lines(storage, FILE);
		assert.deepEqual([header.title, first.message.content], ["Beans", "edited"]);
		const { newSessionFile } = await session.fork();
		session.appendMessage(user("copy only"));
		await session.flush();
		assert.deepEqual([(await lines(storage, FILE)).length, (await lines(storage, newSessionFile)).length], [5, 6]);
		const branched = session.createBranchedSession("00000002");
		session.appendMessage(user("branch only"));
		await session.flush();
		assert.deepEqual(
			(await lines(storage, branched)).map((line) => line.type),
			["session", "message", "message", "message"],
		);
		await session.moveTo("/srv/other");
		assert.equal((await lines(storage, session.getSessionFile()))[0].cwd, "/srv/other");
		assert.equal(storage.existsSync(branched), false);
	});

	test("is a new one where the storage has nothing or a blank text", async () => {
		const storage = new MemorySessionStorage();
		storage.writeTextSync("/store/blank.jsonl", " \n");
		for (const file of ["/store/new.jsonl", "/store/blank.jsonl"]) {
			if (file.includes("blank")) storage.unlink(file);
			const session = await SessionManager.open(file, undefined, storage);
			assert.equal((await lines(storage, file))[0].id, session.getSessionId());
		}
	});

	test("is refused if it is none", async () => {
		const storage = new MemorySessionStorage();
		storage.writeTextSync(FILE, "no session\n");
		await assert.rejects(SessionManager.open(FILE, undefined, storage), { code: "ERR_SESSION_CORRUPT", path: FILE });
		assert.equal(await storage.readText(FILE), "no session\n");
		assert.deepEqual(await loadEntriesFromFile(FILE, storage), []);
	});

	test("is listed and found", async () => {
		const storage = memory();
		const [info] = await SessionManager.list("/srv/garden", "/store", storage);
		assert.deepEqual(
			[info.id, info.messageCount, info.firstMessage, info.allMessagesText],
			[HEADER.id, 4, "one", "one two three four"],
		);
		assert.equal(await findMostRecentSession("/store", storage), FILE);
		assert.equal((await getRecentSessions("/store", 3, storage))[0].fullName, "one");
		assert.equal((await resolveResumableSession("a1b2", "/srv/garden", "/store", storage)).session.path, FILE);
		assert.equal((await SessionManager.continueRecent("/srv/garden", "/store", storage)).getSessionId(), HEADER.id);
		assert.equal((await loadEntriesFromFile(FILE, storage)).length, 5);
		const forked = await SessionManager.forkFrom(FILE, "/srv/other", "/store2", storage);
		assert.equal((await lines(storage, forked.getSessionFile())).length, 5);
	});
});

describe("a storage that fails", () => {
	test("its error arrives unchanged at flush, and what was acknowledged is written when it works again", async () => {
		const storage = new Flaky();
		storage.writeTextSync(FILE, text(...conversation()));
		const session = await SessionManager.open(FILE, undefined, storage);
		storage.failing = new Error("my own error");
		const first = session.appendMessage(user("five"));
		await assert.rejects(session.flush(), (error) => error === storage.failing);
		await assert.rejects(session.close(), (error) => error === storage.failing);
		storage.failing = undefined;
		const second = session.appendMessage(user("six"));
		await session.flush();
		assert.deepEqual(idsOf((await lines(storage, FILE)).slice(5)), [first, second]);
	});

	test("its error is thrown by the next append, once, and nothing changes then", async () => {
		const storage = new Flaky();
		storage.writeTextSync(FILE, text(...conversation()));
		const session = await SessionManager.open(FILE, undefined, storage);
		const failure = new Error("my own error");
		storage.failing = failure;
		session.appendMessage(user("five"));
		await new Promise((resolve) => setImmediate(resolve));
		storage.failing = undefined;
		assert.throws(
			() => session.appendMessage(user("refused")),
			(error) => error === failure,
		);
		assert.equal(session.getEntries().length, 5);
		session.appendMessage(user("six"));
		await session.flush();
		assert.deepEqual(
			(await lines(storage, FILE)).slice(5).map((line) => line.message.content),
			["five", "six"],
		);
	});

	test("a failed replacement leaves the old text, and the session goes on", async () => {
		const storage = new Flaky();
		storage.writeTextSync(FILE, text(...conversation()));
		const session = await SessionManager.open(FILE, undefined, storage);
		storage.failing = new Error("full");
		await assert.rejects(session.setSessionName("Beans"), (error) => error === storage.failing);
		assert.equal(await storage.readText(FILE), text(...conversation()));
		storage.failing = undefined;
		await session.flush();
		assert.equal((await lines(storage, FILE))[0].title, "Beans");
		assert.deepEqual(storage.listFilesSync("/store", "*"), [FILE]);
	});

	test("that throws at once is no different", async () => {
		const storage = memory();
		const session = await SessionManager.open(FILE, undefined, storage);
		const failure = new Error("at once");
		const { openWriter } = storage;
		storage.openWriter = () => {
			throw failure;
		};
		session.appendMessage(user("five"));
		await assert.rejects(session.flush(), (error) => error === failure);
		storage.openWriter = openWriter;
		await session.flush();
		assert.equal((await lines(storage, FILE)).length, 6);
	});

	test("a file that exists already is not replaced by a new session", () => {
		const storage = new MemorySessionStorage();
		const session = SessionManager.create("/srv/garden", "/store", storage);
		storage.writeTextSync(session.getSessionFile(), "somebody else's");
		assert.throws(() => session.appendMessage(assistant("one")), { code: "ERR_SESSION_CONFLICT" });
	});

	for (const [method, use] of [
		["ensureDirSync", async (storage) => SessionManager.create("/srv/garden", "/store", storage)],
		["exists", async (storage) => SessionManager.open(FILE, undefined, storage)],
		["readText", async (storage) => SessionManager.open(FILE, undefined, storage)],
		["readText", async (storage) => SessionManager.forkFrom(FILE, "/srv/other", "/store2", storage)],
		["readText", async (storage) => loadEntriesFromFile(FILE, storage)],
		["listFilesSync", async (storage) => SessionManager.list("/srv/garden", "/store", storage)],
		["listFilesSync", async (storage) => findMostRecentSession("/store", storage)],
	]) {
		test(`its error in ${method} reaches the caller of ${/\.?(\w+)\([^(]*$/.exec(String(use))[1]} as it is`, async () => {
			const storage = memory();
			const failure = Object.assign(new Error("my own error"), { code: "EMINE" });
			storage[method] = () => {
				throw failure;
			};
			await assert.rejects(use(storage), (error) => error === failure);
		});
	}

	test("a text that cannot be read does not hide the others in a list", async () => {
		const storage = memory();
		storage.writeTextSync("/store/two.jsonl", text({ ...HEADER, id: "two" }));
		const { readText } = storage;
		storage.readText = async (file) => {
			if (file === FILE) throw new Error("my own error");
			return readText.call(storage, file);
		};
		const infos = await SessionManager.list("/srv/garden", "/store", storage);
		assert.deepEqual(idsOf(infos), ["two"]);
	});

	test("writes are in order also when the storage is slow", async () => {
		const storage = memory();
		const { openWriter } = storage;
		let delays = 0;
		storage.openWriter = (file, options) => {
			const writer = openWriter.call(storage, file, options);
			const writeLine = writer.writeLine.bind(writer);
			writer.writeLine = async (line) => {
				for (let turn = delays++ % 5; turn >= 0; turn--) await null;
				await writeLine(line);
			};
			return writer;
		};
		const session = await SessionManager.open(FILE, undefined, storage);
		const ids = Array.from({ length: 20 }, (_, at) => session.appendMessage(user(`${at}`)));
		await session.close();
		assert.deepEqual(idsOf((await lines(storage, FILE)).slice(5)), ids);
	});

	test("a session with lines that it does not take is not left", async () => {
		const storage = new Flaky();
		storage.writeTextSync(FILE, text(...conversation()));
		const session = await SessionManager.open(FILE, undefined, storage);
		storage.failing = new Error("my own error");
		const id = session.appendMessage(user("five"));
		for (const leave of [() => session.newSession(), () => session.setSessionFile("/store/two.jsonl")]) {
			await assert.rejects(leave(), (error) => error === storage.failing);
			assert.deepEqual([session.getSessionFile(), session.getLeafId()], [FILE, id]);
		}
		storage.failing = undefined;
		await session.newSession();
		assert.equal((await lines(storage, FILE)).at(-1).id, id);
		assert.notEqual(session.getSessionFile(), FILE);
	});
});

describe("the storage classes", () => {
	for (const [name, make, root] of [
		["FileSessionStorage", () => new FileSessionStorage(), () => place.dir],
		["MemorySessionStorage", () => new MemorySessionStorage(), () => "/mem"],
	]) {
		test(`${name} writes, reads, lists, renames and removes`, async () => {
			const storage = make();
			const file = path.join(root(), "dir", "a.jsonl");
			storage.ensureDirSync(path.dirname(file));
			storage.writeTextSync(file, "é1\n");
			await storage.writeText(path.join(root(), "dir", "b.txt"), "b");
			await storage.writeText(path.join(root(), "dir", ".c.jsonl"), "c");
			assert.deepEqual(storage.listFilesSync(path.dirname(file), "*.jsonl"), [file]);
			assert.deepEqual(storage.listFilesSync(path.join(root(), "nowhere"), "*.jsonl"), []);
			assert.equal(storage.existsSync(file) && (await storage.exists(file)), true);
			assert.equal(await storage.exists(`${file}x`), false);
			const stat = storage.statSync(file);
			assert.deepEqual([stat.size, stat.mtime.getTime() > 0, stat.mtimeMs > 0], [4, true, true]);
			assert.equal(await storage.readTextPrefix(file, 1), "");
			assert.equal(await storage.readTextPrefix(file, 3), "é1");
			const writer = storage.openWriter(file);
			await writer.writeLine("2\n");
			await writer.flush();
			await writer.fsync();
			await writer.close();
			assert.equal(await storage.readText(file), "é1\n2\n");
			await assert.rejects(writer.writeLine("late\n"), { code: "EBADF" });
			const fresh = storage.openWriter(file, { flags: "w" });
			await fresh.writeLine("3\n");
			await fresh.close();
			assert.equal(await storage.readText(file), "3\n");
			await storage.rename(file, `${file}2`);
			assert.deepEqual([storage.existsSync(file), await storage.readText(`${file}2`)], [false, "3\n"]);
			await storage.unlink(`${file}2`);
			for (const gone of [() => storage.statSync(file), () => storage.readText(file), () => storage.unlink(file)]) {
				await assert.rejects(async () => gone(), { code: "ENOENT" });
			}
		});
	}

	test("a FileSessionStorage is the same as none", async () => {
		const file = write("s/one.jsonl", text(...conversation()));
		const session = await SessionManager.open(file, undefined, new FileSessionStorage());
		session.appendMessage(user("five"));
		assert.equal(fs.readFileSync(file, "utf8").split("\n").length, 7);
		assert.equal((await SessionManager.list("/srv/garden", at("s"), new FileSessionStorage())).length, 1);
	});
});
