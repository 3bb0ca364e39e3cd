/**
 * Keeps sessions in a place of one's own: an object with the methods of `SessionStorage`, here around a Map, as one
 * around a database or an object store would be.
 *
 *   node examples/custom-storage.mjs
 */
import * as path from "node:path";
import { SessionManager } from "../index.mjs";

function missing(file) {
	return Object.assign(new Error(`ENOENT: no such file or directory, open '${file}'`), { code: "ENOENT", path: file });
}

class MapStorage {
	rows = new Map();

	#row(file) {
		const row = this.rows.get(file);
		if (!row) throw missing(file);
		return row;
	}

	// There are no directories in a Map.
	ensureDirSync() {}

	existsSync(file) {
		return this.rows.has(file);
	}

	writeTextSync(file, text) {
		this.rows.set(file, { text, mtimeMs: Date.now() });
	}

	statSync(file) {
		const { text, mtimeMs } = this.#row(file);
		return { size: Buffer.byteLength(text), mtimeMs, mtime: new Date(mtimeMs) };
	}

	listFilesSync(dir, pattern) {
		const ending = pattern.replace(/^\*/, "");
		return [...this.rows.keys()].filter((file) => path.dirname(file) === dir && file.endsWith(ending));
	}

	async exists(file) {
		return this.existsSync(file);
	}

	async readText(file) {
		return this.#row(file).text;
	}

	async readTextPrefix(file, maxBytes) {
		return Buffer.from(this.#row(file).text).subarray(0, maxBytes).toString("utf8");
	}

	async writeText(file, text) {
		this.writeTextSync(file, text);
	}

	async rename(file, nextFile) {
		this.rows.set(nextFile, this.#row(file));
		this.rows.delete(file);
	}

	async unlink(file) {
		if (!this.rows.delete(file)) throw missing(file);
	}

	/** What is thrown here reaches the session's next append, flush or close; the line is written again then. */
	openWriter(file, { flags = "a" } = {}) {
		if (flags === "w" || !this.rows.has(file)) this.writeTextSync(file, "");
		return {
			writeLine: async (line) => this.writeTextSync(file, this.#row(file).text + line),
			flush: async () => {},
			fsync: async () => {},
			close: async () => {},
			getError: () => undefined,
		};
	}
}

const storage = new MapStorage();
const session = SessionManager.create("/srv/garden", "/sessions", storage);
session.appendMessage({ role: "user", content: "Which bed gets the beans?", timestamp: Date.now() });
session.appendMessage({
	role: "assistant",
	content: [{ type: "text", text: "The sunny one." }],
	api: "anthropic-messages",
	provider: "anthropic",
	model: "claude-sonnet-4-5",
	usage: {
		input: 12,
		output: 3,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 15,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	},
	stopReason: "stop",
	timestamp: Date.now(),
});
await session.close();

const [info] = await SessionManager.list("/srv/garden", "/sessions", storage);
const again = await SessionManager.open(info.path, "/sessions", storage);
console.log(`${info.messageCount} messages in ${storage.rows.size} file: ${info.firstMessage}`);
console.log(again.buildSessionContext().messages.at(-1).content[0].text);
