/** Entries are told apart by `type`, and generics carry the types of extensions. */
import type {
	BranchSummaryEntry,
	CompactionEntry,
	CustomEntry,
	CustomMessageEntry,
	FileEntry,
	SessionEntry,
	SessionHeader,
} from "omp-session";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function assertType<_T extends true>(): void {}

export function describe(entry: SessionEntry): string {
	switch (entry.type) {
		case "message":
			return entry.message.role;
		case "model_change":
			return `${entry.model} ${entry.role ?? "default"}`;
		case "thinking_level_change":
			return entry.thinkingLevel ?? "off";
		case "service_tier_change":
			return entry.serviceTier ?? "none";
		case "compaction":
			return `${entry.summary} ${entry.tokensBefore.toFixed()} ${entry.firstKeptEntryId}`;
		case "branch_summary":
			return entry.fromId;
		case "custom":
			return `${entry.customType} ${JSON.stringify(entry.data)}`;
		case "custom_message":
			return typeof entry.content === "string" ? entry.content : entry.content.map((block) => block.type).join();
		case "label":
			return `${entry.targetId} ${entry.label ?? ""}`;
		case "ttsr_injection":
			return entry.injectedRules.join();
		case "mcp_tool_selection":
			return entry.selectedToolNames.join();
		case "session_init":
			return entry.tools.join();
		case "mode_change":
			return entry.mode;
		default: {
			const nothing: never = entry;
			return nothing;
		}
	}
}

export function headerOf(entries: FileEntry[]): SessionHeader | undefined {
	const header = entries.find((entry) => entry.type === "session");
	return header?.type === "session" ? header : undefined;
}

interface Index {
	files: string[];
}
declare const compaction: CompactionEntry<Index>;
declare const summary: BranchSummaryEntry<Index>;
declare const custom: CustomEntry<Index>;
declare const message: CustomMessageEntry<Index>;
assertType<Equal<typeof compaction.details, Index | undefined>>();
assertType<Equal<typeof summary.details, Index | undefined>>();
assertType<Equal<typeof custom.data, Index | undefined>>();
assertType<Equal<typeof message.details, Index | undefined>>();
assertType<Equal<CompactionEntry["details"], unknown>>();
assertType<Equal<SessionEntry["parentId"], string | null>>();
