/**
 * What is stored differently from memory, once more: on parsed values, as the rules read, without any
 * care for speed.
 */
import { createHash } from "node:crypto";

const NOTICE = "\n\n[Session persistence truncated large content]";
const STRING_UNITS = 500_000;
const IMAGE_CHARS = 1024;
const TRANSIENT = ["partialJson", "jsonlEvents"];
const SIGNATURES = ["thinkingSignature", "thoughtSignature", "textSignature"];

const isObject = (value) => typeof value === "object" && value !== null;

/** What is to be in the blob store. */
class Blobs {
	/** Bytes by hash. */
	stored = new Map();
	/** What a reference stands for. */
	texts = new Map();

	put(bytes, text) {
		const hash = createHash("sha256").update(bytes).digest("hex");
		const reference = `blob:sha256:${hash}`;
		this.stored.set(hash, bytes);
		this.texts.set(reference, text);
		return reference;
	}
}

function storedString(text, key, blobs) {
	// Half a pair would not come back from a blob, which is UTF-8.
	if (key === "image_url" && text.startsWith("data:image/") && text.includes(";base64,") && text.isWellFormed()) {
		return blobs.put(Buffer.from(text, "utf8"), text);
	}
	if (text.length <= STRING_UNITS) return text;
	if (SIGNATURES.includes(key)) return "";
	const cut = text.slice(0, STRING_UNITS - NOTICE.length);
	// What is cut off may be the other half of a pair.
	return (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut) + NOTICE;
}

function isImageData(object, key) {
	return (
		key === "data" &&
		typeof object.data === "string" &&
		(typeof object.mimeType === "string" || object.type === "image")
	);
}

/** The reference for the data of a block that moves to the blob store. */
function imageReference(block, listKey, blobs) {
	if (listKey !== "content" || !isObject(block) || Array.isArray(block) || block.type !== "image") return undefined;
	if (typeof block.data !== "string" || block.data.length < IMAGE_CHARS) return undefined;
	const bytes = Buffer.from(block.data, "base64");
	return bytes.toString("base64") === block.data ? blobs.put(bytes, block.data) : undefined;
}

function storedObject(object, blobs, dataReference) {
	const stored = {};
	let changed = false;
	for (const [key, member] of Object.entries(object)) {
		if (TRANSIENT.includes(key)) {
			changed = true;
			continue;
		}
		let value = isImageData(object, key) ? member : storedValue(member, key, blobs);
		if (key === "data" && dataReference !== undefined) value = dataReference;
		changed ||= JSON.stringify(value) !== JSON.stringify(member);
		// An ordinary assignment would set the prototype.
		Object.defineProperty(stored, key, { value, writable: true, enumerable: true, configurable: true });
	}
	if (changed && typeof stored.content === "string" && typeof stored.lineCount === "number") {
		stored.lineCount = stored.content.split("\n").length;
	}
	return stored;
}

function storedValue(value, key, blobs) {
	if (typeof value === "string") return storedString(value, key, blobs);
	if (Array.isArray(value)) {
		return value.map((item) => {
			const reference = imageReference(item, key, blobs);
			return reference === undefined ? storedValue(item, key, blobs) : storedObject(item, blobs, reference);
		});
	}
	return isObject(value) ? storedObject(value, blobs, undefined) : value;
}

/** Replay data of a former provider connection goes when a message is read. */
function withoutReplay(entry) {
	const message = entry.type === "message" ? entry.message : undefined;
	if (message?.role !== "assistant" || message.providerPayload?.type !== "openaiResponsesHistory") return entry;
	delete message.providerPayload;
	for (const block of Array.isArray(message.content) ? message.content : []) {
		if (block?.type === "thinking") delete block.thinkingSignature;
	}
	return entry;
}

/**
 * The value that stands in the file for an entry, the blobs that must be there, by hash, and the value
 * of the entry when it is read again.
 * @param {object} entry as in memory
 */
export function persist(entry) {
	const blobs = new Blobs();
	const value = storedValue(JSON.parse(JSON.stringify(entry)), "", blobs);
	const resolved = JSON.parse(JSON.stringify(value), (_, member) => blobs.texts.get(member) ?? member);
	return { value, blobs: blobs.stored, read: withoutReplay(resolved) };
}
