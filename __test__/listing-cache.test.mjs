import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { SessionManager } from "../index.mjs";
import { assistant, messageLine, user } from "./support/lines.mjs";
import { at, freshPlaces, place } from "./support/place.mjs";
import { putSession } from "./support/sessions.mjs";

freshPlaces();

const CACHE = "agent/omp-session/listing-1";

/** Enough to be worth remembering; half a pair, which UTF-8 cannot hold, included. */
const LONG = `\ud83e${"long ".repeat(300_000)}`;

function plain(infos) {
	return infos.map((info) => ({ ...info, allMessagesText: info.allMessagesText }));
}

describe("a list that remembers", () => {
	test("shows what the files show, also when some have changed, and keeps its memory to the owner", async () => {
		putSession(
			"one",
			{ id: "one", title: "Beans \ud83d" },
			messageLine(1, user(LONG)),
			messageLine(2, assistant("yes")),
		);
		const grown = putSession("two", { id: "two" }, messageLine(1, user("two")));
		const gone = putSession("three", { id: "three" });
		const first = plain(await SessionManager.listAll());
		// What has just been written could still change within its time stamp.
		assert.equal(fs.existsSync(at(CACHE)), false);
		await wait(2100);
		assert.deepEqual(plain(await SessionManager.listAll()), first);
		assert.equal(fs.existsSync(at(CACHE)), true);
		if (process.platform !== "win32") assert.equal(fs.statSync(at(CACHE)).mode & 0o777, 0o600);
		assert.deepEqual(plain(await SessionManager.listAll()), first);
		fs.rmSync(gone);
		const session = await SessionManager.open(grown);
		session.appendMessage(user("more"));
		await session.close();
		const remembered = plain(await SessionManager.listAll());
		fs.rmSync(at("agent/omp-session"), { recursive: true });
		const read = plain(await SessionManager.listAll());
		assert.deepEqual(remembered, read);
		assert.deepEqual(read.map((info) => [info.id, info.messageCount]).sort(), [
			["one", 2],
			["two", 2],
		]);
		assert.equal(read.find((info) => info.id === "one").allMessagesText, `${LONG} yes`);
	});

	test("of a small store remembers nothing and leaves the agent directory as it is", async () => {
		putSession("one");
		const before = fs.readdirSync(place.agent);
		await SessionManager.listAll();
		assert.deepEqual(fs.readdirSync(place.agent), before);
	});
});

describe("allMessagesText", () => {
	test("of a file that was replaced after it was listed is that of the new one", async () => {
		const file = putSession("one", {}, messageLine(1, user("old text")));
		const [info] = await SessionManager.listAll();
		fs.writeFileSync(`${file}.new`, fs.readFileSync(file, "utf8").replace("old text", "new text, and longer"));
		fs.renameSync(`${file}.new`, file);
		assert.equal(info.allMessagesText, "new text, and longer");
	});
});
