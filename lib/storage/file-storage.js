/** The file system as a storage object. */

const fs = require("node:fs");
const path = require("node:path");
const { ensureDir } = require("../places.js");
const { matchesPattern } = require("./pattern.js");

const FILE_MODE = 0o600;

class FileWriter {
	#fd;
	#path;
	#error;
	#onError;

	constructor(file, { flags = "a", onError } = {}) {
		this.#path = file;
		this.#onError = onError;
		ensureDir(path.dirname(file));
		this.#fd = fs.openSync(file, flags, FILE_MODE);
	}

	async #attempt(work) {
		if (this.#fd === undefined) {
			throw Object.assign(new Error(`EBADF: the writer of ${this.#path} is closed`), {
				code: "EBADF",
				path: this.#path,
			});
		}
		try {
			work(this.#fd);
			this.#error = undefined;
		} catch (error) {
			this.#error = error;
			this.#onError?.(error);
			throw error;
		}
	}

	writeLine(line) {
		return this.#attempt((fd) => {
			const bytes = Buffer.from(line, "utf8");
			for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done);
		});
	}

	flush() {
		return Promise.resolve();
	}

	fsync() {
		return this.#attempt((fd) => fs.fsyncSync(fd));
	}

	async close() {
		const fd = this.#fd;
		this.#fd = undefined;
		if (fd !== undefined) fs.closeSync(fd);
	}

	getError() {
		return this.#error;
	}
}

/** Names that belong to a session file: backups and temporary files of its rewrites. */
function isCompanion(name, session) {
	const backup = name.startsWith(`${session}.`) && (name.endsWith(".bak") || name.startsWith(`${session}.bak-`));
	return backup || (name.startsWith(`.${session}.`) && name.endsWith(".tmp"));
}

class FileSessionStorage {
	ensureDirSync(dir) {
		ensureDir(dir);
	}

	existsSync(file) {
		return fs.existsSync(file);
	}

	writeTextSync(file, content) {
		ensureDir(path.dirname(file));
		fs.writeFileSync(file, content, { mode: FILE_MODE });
	}

	statSync(file) {
		const { size, mtimeMs, mtime } = fs.statSync(file);
		return { size, mtimeMs, mtime };
	}

	listFilesSync(dir, pattern) {
		try {
			return fs
				.readdirSync(dir)
				.filter((name) => !name.startsWith(".") && matchesPattern(name, pattern))
				.sort()
				.map((name) => path.join(dir, name));
		} catch {
			return [];
		}
	}

	async exists(file) {
		try {
			await fs.promises.access(file);
			return true;
		} catch (error) {
			if (error.code === "ENOENT") return false;
			throw error;
		}
	}

	readText(file) {
		return fs.promises.readFile(file, "utf8");
	}

	/** The first `maxBytes` bytes; half a character at the end is left out. */
	async readTextPrefix(file, maxBytes) {
		const handle = await fs.promises.open(file, "r");
		try {
			const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
			return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
		} finally {
			await handle.close();
		}
	}

	async writeText(file, content) {
		ensureDir(path.dirname(file));
		await fs.promises.writeFile(file, content, { mode: FILE_MODE });
	}

	rename(file, nextFile) {
		return fs.promises.rename(file, nextFile);
	}

	unlink(file) {
		return fs.promises.unlink(file);
	}

	openWriter(file, options) {
		return new FileWriter(file, options);
	}

	/** Removes a session file with its artifact folder, its backups and its temporary files. */
	async deleteSessionWithArtifacts(sessionFile) {
		await this.unlink(sessionFile);
		const dir = path.dirname(sessionFile);
		const session = path.basename(sessionFile);
		for (const name of fs.readdirSync(dir).filter((name) => isCompanion(name, session))) {
			await fs.promises.rm(path.join(dir, name), { force: true });
		}
		if (session.endsWith(".jsonl")) {
			await fs.promises.rm(sessionFile.slice(0, -".jsonl".length), { recursive: true, force: true });
		}
	}
}

module.exports = { FileSessionStorage };
