import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import args from "../lib/arguments.js";
import file from "../lib/storage/file-storage.js";
import memory from "../lib/storage/memory-storage.js";
import { at, freshPlaces, write } from "./support/place.mjs";

freshPlaces();

const is = (code, path) => (error) => error instanceof Error && error.code === code && error.path === path;

for (const Storage of [file.FileSessionStorage, memory.MemorySessionStorage]) {
	describe(Storage.name, () => {
		test("has the whole interface", () => {
			args.checkStorage("here", new Storage());
		});

		test("reads what it wrote, with its size in bytes", async () => {
			const storage = new Storage();
			storage.ensureDirSync(at("s"));
			storage.writeTextSync(at("s/one.jsonl"), "сад\n");
			await storage.writeText(at("s/deep/two.jsonl"), "two\n");
			assert.equal(await storage.readText(at("s/one.jsonl")), "сад\n");
			assert.equal(storage.statSync(at("s/one.jsonl")).size, 7);
			assert.ok(storage.statSync(at("s/one.jsonl")).mtime instanceof Date);
			assert.equal(storage.existsSync(at("s/deep/two.jsonl")), true);
			assert.equal(await storage.exists(at("s/deep/two.jsonl")), true);
			assert.equal(await storage.exists(at("s/one.jsonl/inner")), false);
		});

		test("lists the files of a directory in order, without hidden ones", async () => {
			const storage = new Storage();
			for (const name of ["b.jsonl", "a.jsonl", ".c.jsonl", ".jsonl", "d.txt", "deep/e.jsonl", "b.jsonl.bak"]) {
				storage.writeTextSync(at("s", name), "");
			}
			const expected = [at("s/a.jsonl"), at("s/b.jsonl")];
			assert.deepEqual(storage.listFilesSync(at("s"), "*.jsonl"), expected);
			assert.deepEqual(storage.listFilesSync(`${at("s")}/`, "*.jsonl"), expected);
			assert.deepEqual(storage.listFilesSync(at("none"), "*.jsonl"), []);
		});

		test("never gives half a character of a prefix", async () => {
			const storage = new Storage();
			storage.writeTextSync(at("one"), "\ufeffa😀植b");
			const prefixes = [];
			for (let bytes = 0; bytes <= 13; bytes++) prefixes.push(await storage.readTextPrefix(at("one"), bytes));
			assert.equal(new Set(prefixes).size, 6);
			assert.ok(prefixes.every((prefix) => "\ufeffa😀植b".startsWith(prefix)));
			assert.equal(await storage.readTextPrefix(at("one"), Number.MAX_SAFE_INTEGER), "\ufeffa😀植b");
			assert.equal(await storage.readTextPrefix(at("one"), -1), "");
		});

		test("says which file is missing", async () => {
			const storage = new Storage();
			const none = at("none");
			assert.throws(() => storage.statSync(none), is("ENOENT", none));
			await assert.rejects(storage.readText(none), is("ENOENT", none));
			await assert.rejects(storage.readTextPrefix(none, 4), is("ENOENT", none));
			await assert.rejects(storage.rename(none, at("two")), is("ENOENT", none));
			await assert.rejects(storage.unlink(none), is("ENOENT", none));
		});

		test("renames and removes", async () => {
			const storage = new Storage();
			storage.writeTextSync(at("one"), "1");
			storage.writeTextSync(at("two"), "2");
			await storage.rename(at("one"), at("two"));
			await storage.rename(at("two"), at("two"));
			assert.equal(await storage.readText(at("two")), "1");
			assert.equal(storage.existsSync(at("one")), false);
			await storage.unlink(at("two"));
			assert.equal(storage.existsSync(at("two")), false);
		});

		test("writes line after line, at the end or from the start", async () => {
			const storage = new Storage();
			const appending = storage.openWriter(at("s/one.jsonl"));
			await Promise.all([1, 2, 3].map((n) => appending.writeLine(`${n}\n`)));
			await appending.flush();
			await appending.fsync();
			await Promise.all([appending.fsync(), appending.close(), appending.close()]);
			await assert.rejects(appending.writeLine("4\n"), is("EBADF", at("s/one.jsonl")));
			const again = storage.openWriter(at("s/one.jsonl"), { flags: "a" });
			await again.writeLine("4\n");
			await again.close();
			assert.equal(await storage.readText(at("s/one.jsonl")), "1\n2\n3\n4\n");
			const anew = storage.openWriter(at("s/one.jsonl"), { flags: "w" });
			assert.equal(await storage.readText(at("s/one.jsonl")), "");
			await anew.writeLine("5\n");
			await anew.close();
			assert.equal(anew.getError(), undefined);
			assert.equal(await storage.readText(at("s/one.jsonl")), "5\n");
		});
	});
}

describe("MemorySessionStorage", () => {
	test("takes 100,000 lines in linear time", async () => {
		const storage = new memory.MemorySessionStorage();
		const writer = storage.openWriter("/one");
		const line = `${"w".repeat(999)}\n`;
		const start = performance.now();
		for (let i = 0; i < 100_000; i++) await writer.writeLine(line);
		assert.ok(performance.now() - start < 5000);
		assert.equal(storage.statSync("/one").size, 100_000_000);
	});
});

describe("FileSessionStorage", () => {
	const storage = new file.FileSessionStorage();

	test("makes files and directories for their owner only", async () => {
		await storage.writeText(at("a/b/one"), "");
		storage.writeTextSync(at("a/c/one"), "");
		await storage.openWriter(at("a/d/one")).close();
		for (const dir of ["a", "a/b", "a/c", "a/d"]) assert.equal(fs.statSync(at(dir)).mode & 0o777, 0o700);
		for (const dir of ["b", "c", "d"]) assert.equal(fs.statSync(at("a", dir, "one")).mode & 0o777, 0o600);
	});

	test("lists links to files and no directories", () => {
		write("far/one.jsonl", "");
		fs.mkdirSync(at("s/dir.jsonl"), { recursive: true });
		fs.symlinkSync(at("far/one.jsonl"), at("s/link.jsonl"));
		fs.symlinkSync(at("far/none.jsonl"), at("s/broken.jsonl"));
		assert.deepEqual(storage.listFilesSync(at("s"), "*.jsonl"), [at("s/link.jsonl")]);
	});

	if (fs.existsSync("/dev/full")) {
		test("names the file that is full", async () => {
			fs.symlinkSync("/dev/full", at("full"));
			await assert.rejects(storage.writeText(at("full"), "x"), is("ENOSPC", at("full")));
			assert.throws(() => storage.writeTextSync(at("full"), "x"), is("ENOSPC", at("full")));
			await assert.rejects(storage.readText(at()), is("EISDIR", at()));
		});

		test("tells of a failed write until a later one succeeds", async () => {
			const told = [];
			const onError = (error) => {
				told.push(error.code);
				throw new Error("of the callback");
			};
			fs.symlinkSync("/dev/full", at("full"));
			const writer = storage.openWriter(at("full"), { onError });
			await assert.rejects(writer.writeLine("x\n"), is("ENOSPC", at("full")));
			await assert.rejects(writer.flush(), is("ENOSPC", at("full")));
			assert.equal(writer.getError().code, "ENOSPC");
			assert.deepEqual(told, ["ENOSPC"]);
			await writer.writeLine("");
			assert.equal(writer.getError(), undefined);
			await writer.close();
		});
	}
});

describe("deleteSessionWithArtifacts", () => {
	const remove = (name) => new file.FileSessionStorage().deleteSessionWithArtifacts(at(name));
	const rest = () => fs.readdirSync(at("s"), { recursive: true }).map(String).sort();

	test("removes the file, its folder, backups and temporary files, and nothing else", async () => {
		const own = ["", ".bak", ".184abc.bak", ".bak-2026-01-01T00-00-00-000Z"].map((end) => `s/one.jsonl${end}`);
		for (const name of [...own, "s/.one.jsonl.1.tmp", "s/.one.jsonl.1.omp-session.tmp", "s/one/0.txt"])
			write(name, "x");
		const others = [
			"two.jsonl",
			"one.jsonl.b.jsonl",
			"one.jsonl.b.jsonl.bak",
			".one.jsonl.b.jsonl.1.tmp",
			"one.jsonl.txt",
			"xone.jsonl.bak",
			"one.bak",
			".one.tmp",
			"one.jsonlx",
		];
		for (const name of others) write(`s/${name}`, "x");
		await remove("s/one.jsonl");
		assert.deepEqual(rest(), others.sort());
	});

	test("removes temporary files that are not hidden too", async () => {
		for (const end of ["", ".tmp", ".184abc.tmp"]) write(`s/one.jsonl${end}`, "x");
		for (const name of ["one.jsonl.b.jsonl", "one.jsonl.b.jsonl.tmp", "one.tmp"]) write(`s/${name}`, "x");
		await remove("s/one.jsonl");
		assert.deepEqual(rest(), ["one.jsonl.b.jsonl", "one.jsonl.b.jsonl.tmp", "one.tmp"]);
	});

	test("with a path that does not end in .jsonl removes no folder", async () => {
		for (const name of ["s/one.json", "s/one.txt", "s/.jsonl", "s/o.jsonl/kept", "s/one/kept", "s/on/kept"])
			write(name, "x");
		for (const name of ["one.json", "one.txt", ".jsonl"]) await remove(`s/${name}`);
		assert.deepEqual(rest(), ["o.jsonl", "o.jsonl/kept", "on", "on/kept", "one", "one/kept"]);
	});

	test("of a missing file or a directory removes nothing", async () => {
		write("s/one/0.txt", "x");
		fs.mkdirSync(at("s/two.jsonl"));
		await assert.rejects(remove("s/one.jsonl"), is("ENOENT", at("s/one.jsonl")));
		await assert.rejects(remove("s/two.jsonl"), is("EISDIR", at("s/two.jsonl")));
		assert.deepEqual(rest(), ["one", "one/0.txt", "two.jsonl"]);
	});

	test("of a link removes the link", async () => {
		write("far/one.jsonl", "x");
		write("far/one/0.txt", "x");
		fs.mkdirSync(at("s"));
		fs.symlinkSync(at("far/one.jsonl"), at("s/one.jsonl"));
		fs.symlinkSync(at("far/one"), at("s/one"));
		await remove("s/one.jsonl");
		assert.deepEqual(rest(), []);
		assert.equal(fs.existsSync(at("far/one/0.txt")), true);
	});
});
