import {
	type SessionContext,
	type SessionEntry,
	type SessionError,
	type SessionInfo,
	SessionManager,
} from "omp-session";

async function read(file: string): Promise<string[]> {
	const session: SessionManager = await SessionManager.open(file);
	const context: SessionContext = session.buildSessionContext();
	const texts = session.getBranch().map((entry: SessionEntry) => {
		switch (entry.type) {
			case "message":
				return entry.message.role;
			case "compaction":
				return `${entry.tokensBefore} tokens`;
			default:
				return entry.type;
		}
	});
	const infos: SessionInfo[] = await SessionManager.list("/srv/garden");
	return [...texts, ...infos.map((info) => info.firstMessage), `${context.messages.length} messages`];
}

export function wrong(session: SessionManager): void {
	// @ts-expect-error a label belongs to an entry, whose id is a string
	session.appendLabelChange(1, "start");
}

export function explain(error: unknown): string {
	return (error as SessionError).code;
}

export { read };
