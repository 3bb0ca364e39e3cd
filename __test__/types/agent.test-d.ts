/** Uses of a session as an agent has them: turns, compaction, pruning, branches, switching, lists. */
import {
	type AgentMessage,
	type AssistantMessage,
	type BranchSummaryEntry,
	buildSessionContext,
	type CompactionEntry,
	type FileEntry,
	findMostRecentSession,
	getLatestCompactionEntry,
	getRecentSessions,
	loadEntriesFromFile,
	type NewSessionOptions,
	parseSessionEntries,
	type ReadonlySessionManager,
	type ResolvedSessionMatch,
	resolveResumableSession,
	type SessionContext,
	type SessionEntry,
	type SessionHeader,
	type SessionInfo,
	SessionManager,
	type SessionMessageEntry,
	type SessionTreeNode,
	type ToolResultMessage,
	type UsageStatistics,
} from "omp-session";

interface FileOperations {
	readFiles: string[];
	modifiedFiles: string[];
}

/** What an extension is handed. */
export interface ExtensionContext {
	cwd: string;
	sessionManager: ReadonlySessionManager;
}

export function contextFor(session: SessionManager): ExtensionContext {
	return { cwd: session.getCwd(), sessionManager: session };
}

export function onMessage(session: SessionManager, message: AgentMessage): string | undefined {
	if (message.role === "custom" || message.role === "hookMessage") {
		const { customType, content, display, details, attribution } = message;
		return session.appendCustomMessageEntry(customType, content, display, details, attribution ?? "agent");
	}
	if (message.role === "branchSummary" || message.role === "compactionSummary") return undefined;
	return session.appendMessage(message);
}

export function switchModel(
	session: SessionManager,
	model: { provider: string; id: string },
	level: string | undefined,
): void {
	session.appendModelChange(`${model.provider}/${model.id}`, session.getLastModelChangeRole());
	session.appendThinkingLevelChange(level);
	session.appendServiceTierChange("priority");
	session.appendServiceTierChange(null);
	session.appendModeChange("plan", { planFilePath: "plan.md" });
	session.appendMCPToolSelection(["search"]);
	session.appendTtsrInjection([...new Set(["rule"])]);
}

export function startSubagent(session: SessionManager, outputSchema: unknown): string {
	return session.appendSessionInit({ systemPrompt: "be kind", task: "dig", tools: ["bash"], outputSchema });
}

export function compact(session: SessionManager): CompactionEntry | undefined {
	const branch = session.getBranch();
	const previous = getLatestCompactionEntry(branch);
	const kept = branch.at(-2)?.id ?? previous?.firstKeptEntryId;
	if (kept === undefined) return undefined;
	const id = session.appendCompaction<FileOperations>(
		"summary",
		previous?.shortSummary,
		kept,
		1000,
		{ readFiles: [], modifiedFiles: [] },
		false,
		previous?.preserveData,
	);
	return session.getEntries().find((entry): entry is CompactionEntry => entry.type === "compaction" && entry.id === id);
}

/** Takes the output of old tool calls out of the session. */
export async function prune(session: SessionManager, cutoff: number): Promise<number> {
	let pruned = 0;
	for (const entry of session.getBranch()) {
		if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
		const message: ToolResultMessage = entry.message;
		if (message.timestamp >= cutoff) continue;
		message.content = [{ type: "text", text: "[pruned]" }];
		message.prunedAt = Date.now();
		pruned++;
	}
	if (pruned > 0) await session.rewriteEntries();
	return pruned;
}

export function navigate(session: SessionManager, targetId: string, summary: string | undefined): SessionContext {
	const target = session.getEntry(targetId);
	if (!target) throw new Error(`no ${targetId}`);
	const leaf = target.type === "message" && target.message.role === "user" ? target.parentId : targetId;
	if (summary) {
		const id = session.branchWithSummary(leaf, summary, { readFiles: [] }, true);
		const entry = session.getEntry(id) as BranchSummaryEntry<FileOperations>;
		console.log(entry.details?.readFiles.length, entry.fromExtension);
	} else if (leaf === null) {
		session.resetLeaf();
	} else {
		session.branch(leaf);
	}
	return session.buildSessionContext();
}

export async function switchTo(session: SessionManager, file: string): Promise<string> {
	await session.flush();
	const before = session.captureState();
	try {
		await session.setSessionFile(file);
	} catch {
		session.restoreState(before);
		return before.sessionId;
	}
	return session.getSessionId();
}

export async function startOver(session: SessionManager, options?: NewSessionOptions): Promise<string | undefined> {
	const path: string | undefined = await session.newSession(options);
	await session.setSessionName("Name");
	const forked = await session.fork();
	if (forked) console.log(forked.oldSessionFile, forked.newSessionFile);
	await session.moveTo("/srv/other");
	const branched: string | undefined = session.createBranchedSession(session.getLeafId() ?? "");
	return branched ?? path;
}

export function walk(nodes: SessionTreeNode[], depth = 0): string[] {
	return nodes.flatMap((node) => [
		`${" ".repeat(depth)}${node.label ?? node.entry.type}`,
		...walk(node.children, depth + 1),
	]);
}

export function lastReply(session: ReadonlySessionManager): AssistantMessage | undefined {
	const entry = session
		.getEntries()
		.findLast((item): item is SessionMessageEntry => item.type === "message" && item.message.role === "assistant");
	return entry?.message.role === "assistant" ? entry.message : undefined;
}

export async function pick(cwd: string, argument: string): Promise<SessionInfo | undefined> {
	const own: SessionInfo[] = await SessionManager.list(cwd);
	const all: SessionInfo[] = await SessionManager.listAll();
	const match: ResolvedSessionMatch | undefined = await resolveResumableSession(argument, cwd);
	const recent = await getRecentSessions(SessionManager.getDefaultSessionDir(cwd), 5);
	console.log(recent.map(({ name, fullName, timeAgo, mtime, path }) => [name, fullName, timeAgo, mtime + 1, path]));
	const path: string | null = await findMostRecentSession("/srv");
	return match?.session ?? all.find((info) => info.path === path) ?? own[0];
}

export async function exportFile(path: string): Promise<{ header: SessionHeader | null; leafId: string | null }> {
	const session = await SessionManager.open(path);
	const entries: FileEntry[] = await loadEntriesFromFile(path);
	const again: FileEntry[] = parseSessionEntries(entries.map((entry) => JSON.stringify(entry)).join("\n"));
	const tree: SessionEntry[] = again.filter((entry): entry is SessionEntry => entry.type !== "session");
	const byId = new Map(tree.map((entry) => [entry.id, entry]));
	const { messages, models, thinkingLevel = "off", mode } = buildSessionContext(tree, null, byId);
	console.log(messages.length, models.default, thinkingLevel.length, mode);
	return { header: session.getHeader(), leafId: session.getLeafId() };
}

export async function artifacts(session: SessionManager): Promise<string | null> {
	const { id, path } = await session.allocateArtifactPath("bash");
	const saved: string | undefined = await session.saveArtifact("output", "bash");
	const { ref }: { ref: string } = await session.putBlob(new Uint8Array(3));
	console.log(id, path, ref, session.getArtifactsDir());
	return saved === undefined ? null : session.getArtifactPath(saved);
}

export const noUsage: UsageStatistics = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	premiumRequests: 0,
	cost: 0,
};

declare const readOnly: ReadonlySessionManager;
// @ts-expect-error an extension cannot move the leaf
readOnly.branch("a");
// @ts-expect-error nor give the session up
readOnly.close();
// @ts-expect-error the message of an entry that is no message
readOnly.getLeafEntry()?.message;
// @ts-expect-error a promise is not the manager
SessionManager.open("/srv/one.jsonl").getEntries();
// @ts-expect-error a compaction keeps from an entry on
SessionManager.inMemory().appendCompaction("summary", "short");
// @ts-expect-error summaries of a context are made, not appended
SessionManager.inMemory().appendMessage({ role: "branchSummary", summary: "", fromId: "root", timestamp: 0 });
// @ts-expect-error rules are a list of names
SessionManager.inMemory().appendTtsrInjection("rule");
// @ts-expect-error a tier has a known name
SessionManager.inMemory().appendServiceTierChange("cheap");
