/** Turns a context plan (numbers of entries) into the context with its messages. */

function milliseconds(timestamp) {
	return new Date(timestamp).getTime();
}

function customMessage(entry) {
	return {
		role: "custom",
		customType: entry.customType,
		content: entry.content ?? "",
		display: entry.display,
		details: entry.details,
		attribution: entry.attribution,
		timestamp: milliseconds(entry.timestamp),
	};
}

/** The history that the provider itself compacted, if the compaction carries one. */
function providerPayload(compaction) {
	const remote = compaction.preserveData?.openaiRemoteCompaction;
	if (typeof remote !== "object" || remote === null) return undefined;
	if (typeof remote.provider !== "string" || remote.provider === "") return undefined;
	if (!Array.isArray(remote.replacementHistory)) return undefined;
	return { type: "openaiResponsesHistory", provider: remote.provider, items: remote.replacementHistory };
}

function compactionMessage(compaction, payload) {
	return {
		role: "compactionSummary",
		summary: compaction.summary,
		shortSummary: compaction.shortSummary,
		tokensBefore: compaction.tokensBefore,
		providerPayload: payload,
		timestamp: milliseconds(compaction.timestamp),
	};
}

function pushMessage(messages, entry) {
	if (entry.type === "message") {
		if (entry.message !== null && entry.message !== undefined) messages.push(entry.message);
	} else if (entry.type === "custom_message") {
		messages.push(customMessage(entry));
	} else if (entry.type === "branch_summary" && entry.summary) {
		messages.push({
			role: "branchSummary",
			summary: entry.summary,
			fromId: entry.fromId,
			timestamp: milliseconds(entry.timestamp),
		});
	}
}

function strings(value) {
	return Array.isArray(value) ? value : [];
}

/** The context of a session without entries, or before the first one. */
function emptyContext() {
	return {
		messages: [],
		thinkingLevel: "off",
		serviceTier: undefined,
		models: {},
		injectedTtsrRules: [],
		selectedMCPToolNames: [],
		hasPersistedMCPToolSelection: false,
		mode: "none",
		modeData: undefined,
	};
}

/**
 * @param {{ settings: any, kept: ArrayLike<number>, messages: ArrayLike<number> }} plan
 * @param {(index: number) => any} entryAt
 */
function contextFromPlan(plan, entryAt) {
	const { settings } = plan;
	const entry = (index) => (index === null ? undefined : entryAt(index));
	const context = emptyContext();
	context.thinkingLevel = entry(settings.thinkingLevel)?.thinkingLevel ?? "off";
	context.serviceTier = entry(settings.serviceTier)?.serviceTier ?? undefined;
	for (const [role, model] of settings.models) {
		Object.defineProperty(context.models, role, { value: model, writable: true, enumerable: true, configurable: true });
	}
	const rules = new Set();
	for (const index of settings.injections) for (const rule of strings(entryAt(index).injectedRules)) rules.add(rule);
	context.injectedTtsrRules = [...rules];
	const selection = entry(settings.toolSelection);
	if (selection) {
		context.selectedMCPToolNames = [...strings(selection.selectedToolNames)];
		context.hasPersistedMCPToolSelection = true;
	}
	const mode = entry(settings.mode);
	if (mode) {
		context.mode = mode.mode;
		context.modeData = mode.data;
	}
	const compaction = entry(settings.compaction);
	if (compaction) {
		const payload = providerPayload(compaction);
		context.messages.push(compactionMessage(compaction, payload));
		if (!payload) for (const index of plan.kept) pushMessage(context.messages, entryAt(index));
	}
	for (let at = 0; at < plan.messages.length; at++) pushMessage(context.messages, entryAt(plan.messages[at]));
	return context;
}

module.exports = { contextFromPlan, emptyContext };
