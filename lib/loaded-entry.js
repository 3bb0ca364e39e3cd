/**
 * What an entry read from a file needs before somebody sees it: images come back from the blob
 * store, and replay data of a former provider connection goes.
 */

const native = require("./binding.js");

const REF_PREFIX = "blob:sha256:";
const HASH = /^[0-9a-f]{64}$/;

/** Blocks that stand for an image whose blob is missing, with the block they stand for. */
const placeholders = new WeakMap();

function isObject(value) {
	return typeof value === "object" && value !== null;
}

function readBlob(blobsDir, reference) {
	const hash = reference.slice(REF_PREFIX.length);
	return HASH.test(hash) ? native.readBlob(blobsDir, hash) : null;
}

function isRef(value) {
	return typeof value === "string" && value.startsWith(REF_PREFIX);
}

/** The block to show for an image block with a reference. */
function resolveImage(block, blobsDir) {
	const bytes = readBlob(blobsDir, block.data);
	if (bytes) return { ...block, data: bytes.toString("base64") };
	const kind = typeof block.mimeType === "string" ? ` (${block.mimeType})` : "";
	const placeholder = { type: "text", text: `[Image missing${kind}: ${block.data}]` };
	placeholders.set(placeholder, block);
	return placeholder;
}

/** Replaces the items of a list and of the lists in it, which count as parts of it. */
function replaceItems(list, replacement) {
	const open = [list];
	while (open.length > 0) {
		const items = open.pop();
		for (let at = 0; at < items.length; at++) {
			if (Array.isArray(items[at])) open.push(items[at]);
			else items[at] = replacement(items[at]);
		}
	}
}

/** Puts images back where the file has references. Any depth: no recursion. */
function resolveBlobs(entry, blobsDir) {
	const block = (item) =>
		isObject(item) && item.type === "image" && isRef(item.data) ? resolveImage(item, blobsDir) : item;
	const url = (item) => (isRef(item) ? (readBlob(blobsDir, item)?.toString("utf8") ?? item) : item);
	const open = [entry];
	while (open.length > 0) {
		const value = open.pop();
		if (isRef(value.image_url)) value.image_url = url(value.image_url);
		else if (Array.isArray(value.image_url)) replaceItems(value.image_url, url);
		if (Array.isArray(value.content)) replaceItems(value.content, block);
		for (const child of Object.values(value)) if (isObject(child)) open.push(child);
	}
}

function hasReplayPayload(message) {
	return (
		isObject(message) && message.role === "assistant" && message.providerPayload?.type === "openaiResponsesHistory"
	);
}

/** The message without the replay data of a former connection, which a new one would reject. */
function withoutReplay(message) {
	const { providerPayload: _, ...rest } = message;
	if (!Array.isArray(rest.content)) return rest;
	rest.content = rest.content.map((block) => {
		if (!isObject(block) || block.type !== "thinking" || block.thinkingSignature === undefined) return block;
		const { thinkingSignature: __, ...kept } = block;
		return kept;
	});
	return rest;
}

/**
 * Parses entries that the native session gives. A space in front says that some of them refer to blobs
 * or carry replay data.
 * @param {string} text JSON array
 * @param {string} blobsDir
 */
function parseLoaded(text, blobsDir) {
	const entries = JSON.parse(text);
	if (text[0] !== " ") return entries;
	for (const entry of entries) {
		if (!isObject(entry) || Array.isArray(entry)) continue;
		resolveBlobs(entry, blobsDir);
		if (entry.type === "message" && hasReplayPayload(entry.message)) entry.message = withoutReplay(entry.message);
	}
	return entries;
}

/** JSON of an entry as it is stored: a placeholder stands for its image block. */
function stringifyStored(entry) {
	return JSON.stringify(entry, (_, value) =>
		isObject(value) && placeholders.has(value) ? placeholders.get(value) : value,
	);
}

module.exports = { parseLoaded, stringifyStored, hasReplayPayload, withoutReplay };
