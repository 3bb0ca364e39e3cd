/** Code as the agent and its extensions have it compiles; wrong calls do not. */
import {
	buildSessionContext,
	CURRENT_SESSION_VERSION,
	FileSessionStorage,
	MemorySessionStorage,
	type ReadonlySessionManager,
	resolveResumableSession,
	type SessionContext,
	type SessionEntry,
	type SessionError,
	type SessionInfo,
	SessionManager,
	type SessionStorage,
	type SessionTreeNode,
} from "omp-session";

export async function use(storage: SessionStorage): Promise<void> {
	const session = SessionManager.create("/srv/garden", undefined, storage);
	const id: string = session.appendMessage({ role: "user", content: "Hello", timestamp: Date.now() });
	session.appendCompaction<{ files: string[] }>("summary", undefined, id, 10, { files: [] }, true, { a: 1 });
	session.appendCustomMessageEntry("ext", [{ type: "text", text: "x" }], true, { a: 1 }, "user");
	session.appendLabelChange(id, undefined);
	session.branchWithSummary(null, "left");
	const branch: SessionEntry[] = session.getBranch(id);
	const tree: SessionTreeNode[] = session.getTree();
	const context: SessionContext = session.buildSessionContext();
	const infos: SessionInfo[] = await SessionManager.list("/srv/garden");
	const match = await resolveResumableSession("ab", "/srv/garden");
	if (match) console.log(match.scope satisfies "local" | "global", match.session.modified.getTime());
	const forked = await session.fork();
	console.log(forked?.newSessionFile, branch.length, tree.length, context.models.default, infos.length);
	const state = session.captureState();
	console.log(state.sessionId);
	session.restoreState(state);
	console.log(buildSessionContext(session.getEntries(), session.getLeafId(), new Map()).messages.length);
}

/** What an extension gets to see. */
export function readOnly(session: ReadonlySessionManager): number {
	// @ts-expect-error an extension cannot append
	session.appendMessage({ role: "user", content: "", timestamp: 0 });
	return session.getEntries().length;
}

export function onError(error: SessionError): string {
	return error.code === "ERR_SESSION_CORRUPT" ? `${error.path}:${error.line}` : error.message;
}

const version: 3 = CURRENT_SESSION_VERSION;
console.log(version, new FileSessionStorage(), use(new MemorySessionStorage()));

// @ts-expect-error the working directory is a string
SessionManager.create(7);
// @ts-expect-error managers are made by the static methods
new SessionManager();
// @ts-expect-error a user message needs content
SessionManager.inMemory().appendMessage({ role: "user", timestamp: 0 });
// @ts-expect-error the target of a label is needed
SessionManager.inMemory().appendLabelChange();
