import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { assistant, conversation, idsOf, text } from "./support/lines.mjs";
import { at, freshPlaces, readLines, write } from "./support/place.mjs";

freshPlaces();

/** What copies or replaces bytes by their places. */
const WORK = {
	setSessionName: (session) => session.setSessionName("Name"),
	rewriteEntries: async (session) => {
		session.getHeader().title = "Name";
		await session.rewriteEntries();
	},
	fork: (session) => session.fork(),
	moveTo: (session) => session.moveTo("/srv/other"),
	createBranchedSession: async (session) => session.createBranchedSession("00000004"),
};

/** Changes of the text that an editor writes back into the same file. */
const CHANGES = {
	"with a longer header": (content) => content.replace('"cwd"', '"note":"longer than before","cwd"'),
	"with a longer entry": (content) => content.replace("three", "three, and more than that"),
};

describe("a file that was written over in place", () => {
	for (const [kind, change] of Object.entries(CHANGES)) {
		for (const [name, work] of Object.entries(WORK)) {
			test(`${kind} is refused by ${name}, stays as it is, and takes appends`, async () => {
				const file = write("s/one.jsonl", text(...conversation()));
				const session = await SessionManager.open(file);
				const changed = change(fs.readFileSync(file, "utf8"));
				fs.writeFileSync(file, changed);
				await assert.rejects(work(session), { code: "ERR_SESSION_CONFLICT", path: file });
				assert.equal(fs.readFileSync(file, "utf8"), changed);
				assert.deepEqual(fs.readdirSync(at("s")), ["one.jsonl"]);
				const id = session.appendMessage(assistant("five"));
				assert.equal(readLines(file).at(-1).id, id);
				const again = await SessionManager.open(file);
				assert.equal(again.getEntries().length, 5);
				assert.deepEqual(idsOf(again.getBranch()).at(-1), id);
			});
		}
	}
});

test("an entry of which something else is read now says so with a code", async () => {
	const file = write("s/one.jsonl", text(...conversation()));
	const session = await SessionManager.open(file);
	const [first] = session.getEntries();
	const content = fs.readFileSync(file, "utf8");
	fs.writeFileSync(file, content.replaceAll("{", "<"));
	assert.throws(() => first.message, { code: "ERR_SESSION_CONFLICT", path: file });
	assert.throws(() => session.buildSessionContext(), { code: "ERR_SESSION_CONFLICT", path: file });
	fs.writeFileSync(file, content);
	assert.equal(first.message.content, "one");
});
