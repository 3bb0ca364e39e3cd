import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { SessionManager } from "../index.mjs";
import { conversation, text, user } from "./support/lines.mjs";
import { at, freshPlaces, write } from "./support/place.mjs";

freshPlaces();

/** What a manager may be asked for first after its directory was renamed. */
const WORK = {
	appendMessage: (session) => session.appendMessage(user("more")),
	saveArtifact: (session) => session.saveArtifact("1", "bash"),
	fork: (session) => session.fork(),
	newSession: async (session) => {
		await session.newSession();
		await session.ensureOnDisk();
	},
	createBranchedSession: (session) => session.createBranchedSession(session.getLeafId()),
	moveTo: (session) => session.moveTo("/srv/other"),
	close: (session) => session.close(),
};

describe("a manager whose directory was renamed", () => {
	for (const [name, work] of Object.entries(WORK)) {
		test(`knows where its file is and works there: ${name}`, async () => {
			write("s/one.jsonl", text(...conversation()));
			const session = await SessionManager.open(at("s/one.jsonl"));
			await session.saveArtifact("0", "bash");
			fs.renameSync(at("s"), at("new"));
			const source = fs.readFileSync(at("new/one.jsonl"), "utf8");
			await work(session);
			assert.equal(fs.existsSync(at("s")), false);
			assert.notEqual(path.dirname(session.getSessionFile()), at("s"));
			assert.equal(path.dirname(session.getSessionFile()), session.getSessionDir());
			const again = await SessionManager.open(session.getSessionFile());
			assert.equal(again.getSessionId(), session.getSessionId());
			const artifact = name === "moveTo" ? await session.getArtifactPath("0") : at("new/one/0.bash.log");
			assert.equal(fs.readFileSync(artifact, "utf8"), "0");
			assert.equal(fs.existsSync(at("new/one.jsonl")), name !== "moveTo");
			if (name !== "moveTo") assert.ok(fs.readFileSync(at("new/one.jsonl"), "utf8").startsWith(source));
			await Promise.all([session.close(), again.close()]);
		});
	}
});
