/**
 * Lists the sessions of a project and goes on with one of them.
 *
 *   node examples/list-and-resume.mjs <project>                        lists
 *   node examples/list-and-resume.mjs <project> <id> <text>            appends to the session whose id begins so
 */
import { resolveResumableSession, SessionManager } from "../index.mjs";

const [project = process.cwd(), id, text] = process.argv.slice(2);

/** The newest first. Nothing is opened for it, so a list of gigabytes takes moments. */
async function list() {
	const sessions = await SessionManager.list(project);
	if (sessions.length === 0) console.log(`no sessions of ${project}`);
	for (const session of sessions) {
		const when = session.modified.toISOString().slice(0, 16).replace("T", " ");
		console.log(`${session.id}  ${when}  ${session.messageCount} messages  ${session.title ?? session.firstMessage}`);
	}
}

async function resume() {
	if (text === undefined) throw new Error("append which text? it comes after the id");
	// Rejects with ERR_AMBIGUOUS_SESSION, and the candidates, where several ids begin so.
	const match = await resolveResumableSession(id, project);
	if (!match) throw new Error(`no session with an id that begins with ${id}`);
	const session = await SessionManager.open(match.session.path);
	session.appendMessage({ role: "user", content: text, timestamp: Date.now() });
	const { messages } = session.buildSessionContext();
	await session.close();
	console.log(`the model would get ${messages.length} messages, the last of them: ${messages.at(-1).content}`);
}

try {
	await (id === undefined ? list() : resume());
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
}
