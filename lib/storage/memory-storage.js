/** A storage object that keeps everything in memory. */

const path = require("node:path");
const { StringDecoder } = require("node:string_decoder");
const { matchesPattern } = require("./pattern.js");

/** A directory as it is compared with that of a file. */
function plainDir(dir) {
	return path.normalize(dir).replace(/(.)[\\/]$/, "$1");
}

function missing(file) {
	return Object.assign(new Error(`ENOENT: no file ${file}`), { code: "ENOENT", path: file });
}

class MemoryWriter {
	#storage;
	#path;
	#closed = false;

	constructor(storage, file, { flags = "a" } = {}) {
		this.#storage = storage;
		this.#path = file;
		if (flags === "w") storage.writeTextSync(file, "");
	}

	async writeLine(line) {
		if (this.#closed) {
			throw Object.assign(new Error(`EBADF: the writer of ${this.#path} is closed`), {
				code: "EBADF",
				path: this.#path,
			});
		}
		this.#storage.appendText(this.#path, line);
	}

	async flush() {}

	async fsync() {}

	async close() {
		this.#closed = true;
	}

	getError() {
		return undefined;
	}
}

class MemorySessionStorage {
	/** Text of each file in pieces: joining them at each append would cost the square of their number. */
	#files = new Map();

	#file(file) {
		const found = this.#files.get(file);
		if (!found) throw missing(file);
		return found;
	}

	#text(file) {
		const found = this.#file(file);
		if (found.pieces.length > 1) found.pieces = [found.pieces.join("")];
		return found.pieces[0] ?? "";
	}

	ensureDirSync(_dir) {}

	existsSync(file) {
		return this.#files.has(file);
	}

	writeTextSync(file, content) {
		this.#files.set(file, { pieces: [content], size: undefined, mtimeMs: Date.now() });
	}

	/** Adds to a file, or begins it. */
	appendText(file, content) {
		const found = this.#files.get(file);
		if (!found) {
			this.writeTextSync(file, content);
			return;
		}
		found.pieces.push(content);
		found.size = undefined;
		found.mtimeMs = Date.now();
	}

	statSync(file) {
		const found = this.#file(file);
		found.size ??= Buffer.byteLength(this.#text(file));
		return { size: found.size, mtimeMs: found.mtimeMs, mtime: new Date(found.mtimeMs) };
	}

	listFilesSync(dir, pattern) {
		const wanted = plainDir(dir);
		const isListed = (name) => !name.startsWith(".") && matchesPattern(name, pattern);
		return [...this.#files.keys()]
			.filter((file) => plainDir(path.dirname(file)) === wanted && isListed(path.basename(file)))
			.sort();
	}

	async exists(file) {
		return this.existsSync(file);
	}

	async readText(file) {
		return this.#text(file);
	}

	/** The first `maxBytes` bytes; half a character at the end is left out. */
	async readTextPrefix(file, maxBytes) {
		// A character takes at least a byte, so no more of them are needed.
		const bytes = Buffer.from(this.#text(file).slice(0, Math.max(0, maxBytes)));
		return new StringDecoder("utf8").write(bytes.subarray(0, Math.max(0, maxBytes)));
	}

	async writeText(file, content) {
		this.writeTextSync(file, content);
	}

	async rename(file, nextFile) {
		const found = this.#file(file);
		this.#files.delete(file);
		this.#files.set(nextFile, found);
	}

	async unlink(file) {
		if (!this.#files.delete(file)) throw missing(file);
	}

	openWriter(file, options) {
		return new MemoryWriter(this, file, options ?? {});
	}
}

module.exports = { MemorySessionStorage };
