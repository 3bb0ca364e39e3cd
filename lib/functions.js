/** The functions that work on plain arrays of entries and on texts. */

const { types } = require("node:util");
const native = require("./binding.js");
const { argumentError } = require("./error.js");
const { describe, requireString } = require("./arguments.js");
const { contextFromPlan, emptyContext } = require("./context.js");

const CURRENT_SESSION_VERSION = 3;

function requireEntries(where, entries) {
	if (!Array.isArray(entries)) throw argumentError(where, "entries", "an array of entries", describe(entries));
}

/** All objects in a text of JSON lines; what cannot be read is left out. */
function parseSessionEntries(content) {
	requireString("parseSessionEntries", "content", content);
	return JSON.parse(native.parseRecords(content));
}

/** The last compaction in the array, or null. */
function getLatestCompactionEntry(entries) {
	requireEntries("getLatestCompactionEntry", entries);
	return entries.findLast((entry) => entry?.type === "compaction") ?? null;
}

function isObject(value) {
	return typeof value === "object" && value !== null;
}

/** An id that depends on content and position only, so that every process makes the same one. */
function contentId(position, entry, taken) {
	let hash = 0x811c9dc5;
	for (const char of `${position}:${JSON.stringify(entry)}`) {
		hash = Math.imul(hash ^ char.codePointAt(0), 0x01000193);
	}
	let id;
	do {
		id = (hash >>> 0).toString(16).padStart(8, "0");
		hash = (hash + 1) | 0;
	} while (taken.has(id));
	taken.add(id);
	return id;
}

function addTree(entries) {
	const taken = new Set();
	let parentId = null;
	entries.forEach((entry, position) => {
		if (!isObject(entry) || entry.type === "session") return;
		entry.id = contentId(position, entry, taken);
		entry.parentId = parentId;
		parentId = entry.id;
		if (entry.type !== "compaction" || typeof entry.firstKeptEntryIndex !== "number") return;
		const target = entries[entry.firstKeptEntryIndex];
		if (isObject(target) && target.type !== "session") {
			entry.firstKeptEntryId = entries.indexOf(target) < position ? target.id : undefined;
		}
		delete entry.firstKeptEntryIndex;
	});
}

/**
 * Brings entries of version 1 or 2 to version 3, in place. This works on live objects; files are
 * upgraded as text, line by line.
 */
function migrateSessionEntries(entries) {
	requireEntries("migrateSessionEntries", entries);
	const header = entries.find((entry) => entry?.type === "session");
	const version = header?.version ?? 1;
	if (!(version < CURRENT_SESSION_VERSION)) return;
	if (version < 2) addTree(entries);
	for (const entry of entries) {
		if (entry?.type === "message" && entry.message?.role === "hookMessage") entry.message.role = "custom";
	}
	if (header) header.version = CURRENT_SESSION_VERSION;
}

/** The fields of an entry that decide its place in a context, as one JSON line. */
function skeleton(entry, id, parentId) {
	const row = { type: entry.type, id, parentId: typeof parentId === "string" ? parentId : null };
	if (entry.type === "message" && isObject(entry.message)) {
		const { role, provider, model } = entry.message;
		row.message = { role, provider, model };
	} else if (entry.type === "model_change") {
		row.model = entry.model;
		row.role = entry.role ?? undefined;
	} else if (entry.type === "compaction") {
		row.firstKeptEntryId = entry.firstKeptEntryId;
	}
	return JSON.stringify(row);
}

/** An id that no JSON text of an entry spells the same way. */
const UNREACHABLE = "\u0000unreachable";

/** Entries with the ids under which they can be looked up. */
function lookUpRows(entries, byId) {
	if (byId) return Array.from(byId, ([id, entry]) => [String(id), entry]).filter(([, entry]) => isObject(entry));
	return entries.filter(isObject).map((entry) => [entry.id, entry]);
}

/**
 * The context of `leafId`, or of the last entry if that is undefined or unknown.
 * @param {any[]} entries
 * @param {string | null} [leafId]
 * @param {Map<string, any>} [byId]
 */
function buildSessionContext(entries, leafId, byId) {
	requireEntries("buildSessionContext", entries);
	if (byId !== undefined && byId !== null && !types.isMap(byId)) {
		throw argumentError("buildSessionContext", "byId", "a Map of entries", describe(byId));
	}
	if (leafId === null) return emptyContext();
	const rows = lookUpRows(entries, byId ?? undefined);
	let leaf = -1;
	if (leafId) leaf = rows.findLastIndex(([id]) => id === leafId);
	if (leaf < 0) {
		const last = entries.findLast(isObject);
		if (!last) return emptyContext();
		leaf = rows.findLastIndex(([, entry]) => entry === last);
		if (leaf < 0) leaf = rows.push([UNREACHABLE, last]) - 1;
	}
	const text = rows
		.map(([id, entry]) => skeleton(entry, typeof id === "string" ? id : UNREACHABLE, entry.parentId))
		.join("\n");
	const { settings, kept, messages } = native.planContext(text, leaf);
	return contextFromPlan({ settings: JSON.parse(settings), kept, messages }, (index) => rows[index][1]);
}

module.exports = {
	CURRENT_SESSION_VERSION,
	buildSessionContext,
	getLatestCompactionEntry,
	migrateSessionEntries,
	parseSessionEntries,
};
