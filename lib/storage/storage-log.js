/**
 * Writes to a storage object, one after the other. A write that fails stays at the head of the queue
 * and is tried again by the next append, flush or close; its error is thrown once, as it is.
 */

const path = require("node:path");
const { sessionError } = require("../error.js");
const { nextSessionId } = require("../snowflake.js");

class StorageLog {
	/** Where the session is in the storage. */
	path;
	#storage;
	#tasks = [];
	#running;
	#writer;
	#error;

	constructor(storage, file) {
		this.#storage = storage;
		this.path = file;
	}

	/** Throws what the last attempt met, once. */
	throwLastError() {
		const error = this.#error;
		if (error === undefined) return;
		this.#error = undefined;
		this.#run();
		throw error;
	}

	/** Queues lines. */
	append(text) {
		if (text === "") return;
		this.#tasks.push({ kind: "append", text });
		this.#run();
	}

	/** Queues the replacement of everything; what is queued for the old text is in the new one. */
	replace(text, { mustBeNew = false }) {
		if (mustBeNew && this.#storage.existsSync(this.path)) {
			throw sessionError("ERR_SESSION_CONFLICT", `${this.path}: a file is there already. Nothing was overwritten`, {
				path: this.path,
			});
		}
		const started = this.#running ? this.#tasks.slice(0, 1) : [];
		this.#tasks = [...started, { kind: "replace", text }];
		this.#run();
	}

	/** Resolves when everything is written, or rejects with what stopped it. */
	async settled() {
		while (this.#running) await this.#running;
		this.#error = undefined;
		this.#run();
		while (this.#running) await this.#running;
		if (this.#error === undefined) {
			await this.#writer?.flush();
			await this.#writer?.fsync();
			return;
		}
		const error = this.#error;
		this.#error = undefined;
		throw error;
	}

	async close() {
		await this.settled();
		const writer = this.#writer;
		this.#writer = undefined;
		await writer?.close();
	}

	#run() {
		if (this.#running || this.#tasks.length === 0) return;
		this.#running = this.#work().finally(() => {
			this.#running = undefined;
		});
	}

	async #work() {
		while (this.#tasks.length > 0) {
			const task = this.#tasks[0];
			try {
				if (task.kind === "append") await this.#append(task.text);
				else await this.#replace(task.text);
				// A replacement queued meanwhile has dropped what came after the running task.
				if (this.#tasks[0] === task) this.#tasks.shift();
			} catch (error) {
				this.#error = error;
				await this.#dropWriter();
				return;
			}
		}
	}

	async #append(text) {
		this.#writer ??= this.#storage.openWriter(this.path, { flags: "a" });
		for (const line of text.split(/(?<=\n)/)) await this.#writer.writeLine(line);
	}

	async #replace(text) {
		await this.#dropWriter();
		const temp = path.join(path.dirname(this.path), `.${path.basename(this.path)}.${nextSessionId(Date.now())}.tmp`);
		const writer = this.#storage.openWriter(temp, { flags: "w" });
		try {
			for (const line of text.split(/(?<=\n)/)) await writer.writeLine(line);
			await writer.flush();
			await writer.fsync();
			await writer.close();
			await this.#storage.rename(temp, this.path);
		} catch (error) {
			// The old text is intact; what is left of the new one is not worth another error.
			await Promise.resolve(writer.close()).catch(() => {});
			await Promise.resolve(this.#storage.unlink(temp)).catch(() => {});
			throw error;
		}
	}

	async #dropWriter() {
		const writer = this.#writer;
		this.#writer = undefined;
		if (writer) await Promise.resolve(writer.close()).catch(() => {});
	}
}

module.exports = { StorageLog };
