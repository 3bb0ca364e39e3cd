/** The file system as a storage object. */

const fs = require("node:fs");
const path = require("node:path");
const { StringDecoder } = require("node:string_decoder");
const { promisify } = require("node:util");
const { artifactsDir } = require("../artifacts.js");
const { withPath } = require("../error.js");
const { ensureDir } = require("../places.js");
const { matchesPattern } = require("./pattern.js");

const FILE_MODE = 0o600;

const fsync = promisify(fs.fsync);

/** Closes the descriptors of writers that nobody closed. */
const forgotten = new FinalizationRegistry((fd) => fs.close(fd, () => {}));

/**
 * Files whose last line a failed write left unfinished. The next line must not be glued to it, and
 * it may come from another writer.
 */
const torn = new Set();

class FileWriter {
	#fd;
	#path;
	#error;
	#onError;
	#syncing = Promise.resolve();

	constructor(file, { flags, onError }) {
		this.#path = file;
		this.#onError = onError;
		ensureDir(path.dirname(file));
		this.#fd = fs.openSync(file, flags === "w" ? "w" : "a", FILE_MODE);
		if (flags === "w") torn.delete(file);
		forgotten.register(this, this.#fd, this);
	}

	#openFd() {
		if (this.#fd !== undefined) return this.#fd;
		const message = `EBADF: the writer of ${this.#path} is closed`;
		throw Object.assign(new Error(message), { code: "EBADF", path: this.#path });
	}

	#failed(error) {
		this.#error = withPath(error, this.#path);
		try {
			this.#onError?.(error);
		} catch {
			// What the callback throws must not hide the error that it was told of.
		}
		return error;
	}

	async writeLine(line) {
		const fd = this.#openFd();
		const bytes = Buffer.from(torn.has(this.#path) ? `\n${line}` : line, "utf8");
		let done = 0;
		try {
			while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done);
		} catch (error) {
			if (done > 0 && bytes[done - 1] !== 0x0a) torn.add(this.#path);
			throw this.#failed(error);
		}
		if (done > 0) torn.delete(this.#path);
		this.#error = undefined;
	}

	async flush() {
		if (this.#error !== undefined) throw this.#error;
	}

	async fsync() {
		const fd = this.#openFd();
		const synced = fsync(fd);
		// The descriptor stays open until the system is done with it.
		this.#syncing = Promise.allSettled([this.#syncing, synced]);
		try {
			await synced;
		} catch (error) {
			throw this.#failed(error);
		}
	}

	async close() {
		const fd = this.#fd;
		if (fd === undefined) return;
		this.#fd = undefined;
		forgotten.unregister(this);
		await this.#syncing;
		fs.closeSync(fd);
	}

	getError() {
		return this.#error;
	}
}

/** Names that belong to a session file: backups and temporary files of its rewrites. */
function isCompanion(name, session) {
	const isTemporary = name.replace(/^\./, "").startsWith(`${session}.`) && name.endsWith(".tmp");
	const isBackup = name.startsWith(`${session}.`) && (name.endsWith(".bak") || name.startsWith(`${session}.bak-`));
	if (!isTemporary && !isBackup) return false;
	// `a.jsonl` and `a.jsonl.b.jsonl` are two sessions, each with companions of its own.
	return !name.slice(session.length + 1).includes(".jsonl");
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
		try {
			fs.writeFileSync(file, content, { mode: FILE_MODE });
		} catch (error) {
			throw withPath(error, file);
		}
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
				.map((name) => path.join(dir, name))
				.filter((file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile());
		} catch {
			return [];
		}
	}

	async exists(file) {
		try {
			await fs.promises.access(file);
			return true;
		} catch (error) {
			if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
			throw error;
		}
	}

	readText(file) {
		return fs.promises.readFile(file, "utf8").catch((error) => {
			throw withPath(error, file);
		});
	}

	/** The first `maxBytes` bytes; half a character at the end is left out. */
	async readTextPrefix(file, maxBytes) {
		const handle = await fs.promises.open(file, "r");
		try {
			const { size } = await handle.stat();
			const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size)));
			let done = 0;
			for (;;) {
				const { bytesRead } = await handle.read(buffer, done, buffer.length - done, done);
				done += bytesRead;
				if (bytesRead === 0 || done === buffer.length) break;
			}
			return new StringDecoder("utf8").write(buffer.subarray(0, done));
		} finally {
			await handle.close();
		}
	}

	async writeText(file, content) {
		ensureDir(path.dirname(file));
		await fs.promises.writeFile(file, content, { mode: FILE_MODE }).catch((error) => {
			throw withPath(error, file);
		});
	}

	rename(file, nextFile) {
		return fs.promises.rename(file, nextFile);
	}

	unlink(file) {
		return fs.promises.unlink(file);
	}

	openWriter(file, options) {
		return new FileWriter(file, options ?? {});
	}

	/**
	 * Removes a session file with its artifact folder, its backups and its temporary files. The file
	 * goes last: where something cannot be removed the session is still there, and the call can be
	 * repeated. A path that does not end in `.jsonl` has no folder that is certainly its own.
	 */
	async deleteSessionWithArtifacts(sessionFile) {
		if ((await fs.promises.lstat(sessionFile)).isDirectory()) {
			throw Object.assign(new Error(`EISDIR: ${sessionFile} is a directory, not a session file`), {
				code: "EISDIR",
				path: sessionFile,
			});
		}
		const dir = path.dirname(sessionFile);
		const session = path.basename(sessionFile);
		for (const entry of await fs.promises.readdir(dir, { withFileTypes: true })) {
			if (entry.isDirectory() || !isCompanion(entry.name, session)) continue;
			await fs.promises.rm(path.join(dir, entry.name), { force: true });
		}
		if (session.endsWith(".jsonl")) await fs.promises.rm(artifactsDir(sessionFile), { recursive: true, force: true });
		await this.unlink(sessionFile);
	}
}

module.exports = { FileSessionStorage };
