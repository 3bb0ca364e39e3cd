/** What a user does first: a session with a file, closed, opened again and listed. */
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const NAMES = [
	"CURRENT_SESSION_VERSION",
	"FileSessionStorage",
	"MemorySessionStorage",
	"SessionManager",
	"buildSessionContext",
	"findMostRecentSession",
	"getAgentDir",
	"getBlobsDir",
	"getLatestCompactionEntry",
	"getRecentSessions",
	"getSessionsDir",
	"loadEntriesFromFile",
	"migrateSessionEntries",
	"parseSessionEntries",
	"resolveResumableSession",
];

async function run(omp) {
	assert.deepEqual(Object.keys(omp).sort(), NAMES);
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-consumer-"));
	process.env.PI_CODING_AGENT_DIR = path.join(dir, "agent");
	try {
		const session = omp.SessionManager.create(dir);
		const question = session.appendMessage({ role: "user", content: "Which tests fail?", timestamp: Date.now() });
		session.appendMessage({ role: "assistant", content: [{ type: "text", text: "None." }], timestamp: Date.now() });
		session.appendLabelChange(question, "start");
		await session.close();
		const again = await omp.SessionManager.open(session.getSessionFile());
		assert.equal(again.getLabel(question), "start");
		assert.equal(again.buildSessionContext().messages.length, 2);
		assert.equal((await omp.SessionManager.list(dir)).length, 1);
		await again.close();
	} finally {
		fs.rmSync(dir, { recursive: true, force: true });
	}
	console.log("all is there");
}

module.exports = { run };
