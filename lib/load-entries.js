const path = require("node:path");
const native = require("./binding.js");
const args = require("./arguments.js");
const { customStorage } = require("./storage/custom-storage.js");
const { parseSessionEntries } = require("./functions.js");

/** Bytes of JSON text fetched at once. */
const CHUNK_BYTES = 1 << 20;

function isMissing(error) {
	return error?.code === "ENOENT" || error?.code === "ENOTDIR";
}

/** Header and entries in a text, or nothing if it has no header. */
function entriesOf(text) {
	const objects = parseSessionEntries(text);
	const start = objects.findIndex((object) => object.type === "session" && typeof object.id === "string");
	return start < 0 ? [] : objects.slice(start);
}

/**
 * The header and the entries of a file as they are stored: nothing is migrated, and blobs are not
 * brought back. An empty array for a file that is missing or has no header.
 * @param {string} filePath
 * @param {object} [storage]
 */
async function loadEntriesFromFile(filePath, storage) {
	args.requirePath("loadEntriesFromFile", "filePath", filePath);
	const custom = customStorage("loadEntriesFromFile", storage);
	try {
		if (custom) return entriesOf(await custom.readText(filePath));
		const { session } = await native.NativeSession.open(path.resolve(filePath), 0, "");
		if (!session) return [];
		const { header, count } = JSON.parse(session.describe());
		const entries = [header];
		for (let from = 0; from < count; ) {
			const rest = Uint32Array.from({ length: Math.min(count - from, 1024) }, (_, at) => from + at);
			const rows = JSON.parse(session.bodies(rest, CHUNK_BYTES, true));
			entries.push(...rows);
			from += rows.length;
		}
		return entries;
	} catch (error) {
		if (isMissing(error) || error?.code === "ERR_SESSION_CORRUPT") return [];
		throw error;
	}
}

module.exports = { loadEntriesFromFile };
