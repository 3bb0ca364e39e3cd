/**
 * The fields that an append gives an entry, by the arguments of the `append…` methods, which are checked
 * here. A field that is undefined is absent in the file.
 */

const args = require("./arguments.js");

function thinkingLevelChange(thinkingLevel) {
	const level = args.optionalString("appendThinkingLevelChange", "thinkingLevel", thinkingLevel);
	return { thinkingLevel: level ?? null };
}

function serviceTierChange(serviceTier) {
	const tier = args.optionalString("appendServiceTierChange", "serviceTier", serviceTier);
	return { serviceTier: tier ?? null };
}

function modeChange(mode, data) {
	args.requireString("appendModeChange", "mode", mode);
	return { mode, data: data ?? undefined };
}

function modelChange(model, role) {
	args.requireString("appendModelChange", "model", model);
	return { model, role: args.optionalString("appendModelChange", "role", role) };
}

function sessionInit(init) {
	args.requireObject("appendSessionInit", "init", init);
	// The envelope is the session's to give.
	const { type: _type, id: _id, parentId: _parentId, timestamp: _timestamp, ...fields } = init;
	return fields;
}

function compaction(summary, shortSummary, firstKeptEntryId, tokensBefore, details, fromExtension, preserveData) {
	args.requireString("appendCompaction", "summary", summary);
	args.requireString("appendCompaction", "firstKeptEntryId", firstKeptEntryId);
	args.requireNumber("appendCompaction", "tokensBefore", tokensBefore);
	return {
		summary,
		shortSummary: args.optionalString("appendCompaction", "shortSummary", shortSummary),
		firstKeptEntryId,
		tokensBefore,
		details: details ?? undefined,
		fromExtension: args.optionalBoolean("appendCompaction", "fromExtension", fromExtension),
		preserveData: preserveData ?? undefined,
	};
}

function branchSummary(branchFromId, summary, details, fromExtension) {
	args.requireString("branchWithSummary", "summary", summary);
	return {
		fromId: branchFromId ?? "root",
		summary,
		details: details ?? undefined,
		fromExtension: args.optionalBoolean("branchWithSummary", "fromExtension", fromExtension),
	};
}

function custom(customType, data) {
	args.requireString("appendCustomEntry", "customType", customType);
	return { customType, data };
}

function customMessage(customType, content, display, details, attribution) {
	args.requireString("appendCustomMessageEntry", "customType", customType);
	if (typeof content !== "string") {
		args.requireArray("appendCustomMessageEntry", "content", content, "a string or an array");
	}
	args.requireBoolean("appendCustomMessageEntry", "display", display);
	return {
		customType,
		content,
		display,
		details: details ?? undefined,
		attribution: args.optionalString("appendCustomMessageEntry", "attribution", attribution) ?? "agent",
	};
}

function ttsrInjection(ruleNames) {
	args.requireStrings("appendTtsrInjection", "ruleNames", ruleNames);
	return { injectedRules: ruleNames };
}

function mcpToolSelection(selectedToolNames) {
	args.requireStrings("appendMCPToolSelection", "selectedToolNames", selectedToolNames);
	return { selectedToolNames: [...selectedToolNames] };
}

function labelChange(targetId, label) {
	args.requireString("appendLabelChange", "targetId", targetId);
	return { targetId, label: args.optionalString("appendLabelChange", "label", label) };
}

module.exports = {
	branchSummary,
	compaction,
	custom,
	customMessage,
	labelChange,
	mcpToolSelection,
	modeChange,
	modelChange,
	serviceTierChange,
	sessionInit,
	thinkingLevelChange,
	ttsrInjection,
};
