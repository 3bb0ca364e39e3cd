import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import artifacts from "../lib/artifacts.js";
import { at, freshPlaces, write } from "./support/place.mjs";

const { ArtifactStore, InMemoryArtifacts } = artifacts;

freshPlaces();

describe("artifacts in a folder", () => {
	const store = (name = "s/one.jsonl") => new ArtifactStore(at(name));

	test("have numbers as ids and are found by them", async () => {
		const one = store();
		assert.equal(one.dir, at("s/one"));
		assert.equal(await one.getPath("0"), null);
		assert.equal(await one.save("text", "bash"), "0");
		assert.deepEqual(await one.allocatePath("read"), { id: "1", path: at("s/one/1.read.log") });
		assert.equal(fs.readFileSync(await one.getPath("0"), "utf8"), "text");
		assert.equal(fs.statSync(at("s/one")).mode & 0o777, 0o700);
		assert.equal(fs.statSync(at("s/one/0.bash.log")).mode & 0o777, 0o600);
	});

	test("count on from what is there, whatever its ending", async () => {
		write("s/one/7.bash.log", "");
		write("s/one/9.txt", "");
		write("s/one/99999999999999999999.bash.log", "");
		write("s/one/notes.md", "");
		assert.equal(await store().save("", "bash"), "10");
	});

	test("saved at the same time, from several stores, have ids of their own", async () => {
		const stores = [store(), store()];
		const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => stores[i % 2].save(String(i), `t${i % 3}`)));
		assert.equal(new Set(ids).size, 40);
		for (const [i, id] of ids.entries()) assert.equal(fs.readFileSync(await stores[0].getPath(id), "utf8"), String(i));
	});

	test("that are allocated have ids of their own and no file yet", async () => {
		const one = store();
		const all = await Promise.all(Array.from({ length: 20 }, (_, i) => one.allocatePath(`t${i % 3}`)));
		assert.equal(new Set(all.map(({ id }) => id)).size, 20);
		assert.ok(all.every(({ path: file }) => !fs.existsSync(file)));
		fs.writeFileSync(all[3].path, "output");
		assert.equal(await one.getPath(all[3].id), all[3].path);
		assert.equal(await one.save("next", "bash"), "20");
	});

	test("of another store with the same number and another type are passed over", async () => {
		const one = store();
		await one.save("", "bash");
		write("s/one/1.other.log", "theirs");
		assert.equal(await one.save("mine", "bash"), "2");
		assert.equal(fs.readFileSync(await one.getPath("1"), "utf8"), "theirs");
		assert.equal(fs.existsSync(at("s/one/1.bash.log")), false);
	});

	test("never leave their folder", async () => {
		const one = store();
		for (const type of ["../../x", "a/b\\c", "nul\0l", "", "植".repeat(300), "\ud800"]) {
			const { path: file } = await one.allocatePath(type);
			assert.equal(path.dirname(file), at("s/one"));
			fs.writeFileSync(file, "");
		}
		write("s/0.secret", "");
		for (const id of ["../0", "0/../../0", "", "-1", "0.", "*", "1e0"]) assert.equal(await one.getPath(id), null);
	});

	test("go on after their folder was removed", async () => {
		const one = store();
		await one.save("a", "bash");
		fs.rmSync(one.dir, { recursive: true });
		const id = await one.save("b", "bash");
		assert.equal(fs.readFileSync(await one.getPath(id), "utf8"), "b");
	});

	test("of a session file with another ending have a folder that is nobody else's", () => {
		assert.equal(store("s/one").dir, at("s/one.artifacts"));
		assert.equal(store("s/.jsonl").dir, at("s/.jsonl.artifacts"));
		assert.equal(store("s/one.JSONL").dir, at("s/one.JSONL.artifacts"));
	});

	test("that cannot be stored are an error with code and path", async () => {
		write("s/one", "a file in the way");
		await assert.rejects(store().save("x", "bash"), (error) => error.code === "EEXIST" && error.path === at("s/one"));
		assert.equal(await store().getPath("0"), null);
	});
});

test("artifacts in memory have ids and no paths", async () => {
	const memory = new InMemoryArtifacts();
	assert.equal(await memory.save("a", "bash"), "0");
	assert.equal(await memory.save("b", "bash"), "1");
	assert.deepEqual(await memory.allocatePath("bash"), {});
	assert.equal(await memory.getPath("0"), null);
});
