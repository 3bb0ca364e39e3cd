/**
 * Artifacts: outputs too long for a message, kept in a folder beside the session file as
 * `<number>.<type>.log`. A text that is saved takes its number by creating the file, so that several
 * stores on one folder, in whatever process, never write over each other.
 */

const fs = require("node:fs");
const path = require("node:path");
const { withPath } = require("./error.js");
const { namePart } = require("./file-name.js");
const { ensureDir } = require("./places.js");

/** A name with a number; of longer ones a double does not hold every value. */
const NUMBERED = /^(\d{1,15})\./;

const TYPE_BYTES = 200;

/** Collisions with other processes after which something else must be wrong. */
const MOST_ATTEMPTS = 1000;

/**
 * The artifact folder of a session file. One that is named otherwise than `<name>.jsonl` must not
 * share it with a file or a directory that is there for something else.
 */
function artifactsDir(sessionFile) {
	const name = path.basename(sessionFile);
	const isNamed = name.endsWith(".jsonl") && name !== ".jsonl";
	return isNamed ? sessionFile.slice(0, -".jsonl".length) : `${sessionFile}.artifacts`;
}

function numberOf(name) {
	return Number(NUMBERED.exec(name)?.[1] ?? -1);
}

/** A type as a part of a file name that cannot leave the folder. */
function safeType(toolType) {
	return namePart(toolType, TYPE_BYTES) || "artifact";
}

class ArtifactStore {
	#dir;
	/** Numbers below were given out or seen. */
	#next = 0;

	/** @param {string} sessionFile path of the session's file */
	constructor(sessionFile) {
		this.#dir = artifactsDir(sessionFile);
	}

	get dir() {
		return this.#dir;
	}

	#names() {
		try {
			return fs.readdirSync(this.#dir);
		} catch (error) {
			if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
			throw error;
		}
	}

	/** Creates `<number>.<type>.log`; undefined if somebody else has the number. */
	#take(number, type) {
		const name = `${number}.${type}.log`;
		const file = path.join(this.#dir, name);
		try {
			fs.closeSync(fs.openSync(file, "wx", 0o600));
		} catch (error) {
			if (error.code === "EEXIST") return undefined;
			throw error;
		}
		// Two types make two names, so both of those who come at the same moment step back.
		if (!this.#names().some((other) => numberOf(other) === number && other !== name)) return file;
		fs.rmSync(file, { force: true });
		return undefined;
	}

	/** The next number that nobody has. */
	#nextNumber() {
		this.#next = this.#names().reduce((next, name) => Math.max(next, numberOf(name) + 1), this.#next);
		return this.#next++;
	}

	/**
	 * Gives out an id and a path. The file is the caller's to make: most outputs turn out to be short and
	 * never need one.
	 */
	async allocatePath(toolType) {
		ensureDir(this.#dir);
		const id = String(this.#nextNumber());
		return { id, path: path.join(this.#dir, `${id}.${safeType(toolType)}.log`) };
	}

	/** Takes a number with an empty file. */
	#create(toolType) {
		const type = safeType(toolType);
		ensureDir(this.#dir);
		for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
			// Processes that keep meeting at the same numbers part by chance.
			if (attempt > 1) this.#next += Math.floor(Math.random() * attempt);
			const number = this.#nextNumber();
			const file = this.#take(number, type);
			if (file !== undefined) return { id: String(number), file };
		}
		const message = `EEXIST: no free artifact number in ${this.#dir}`;
		throw Object.assign(new Error(message), { code: "EEXIST", path: this.#dir });
	}

	/** Stores a text; resolves to its id. */
	async save(content, toolType) {
		const { id, file } = this.#create(toolType);
		try {
			await fs.promises.writeFile(file, content, { mode: 0o600 });
		} catch (error) {
			// A part of a text would be taken for the whole.
			await fs.promises.rm(file, { force: true }).catch(() => {});
			throw withPath(error, file);
		}
		return id;
	}

	/** The file of an artifact; null if there is none. */
	async getPath(id) {
		if (!/^\d+$/.test(id)) return null;
		const name = this.#names()
			.sort()
			.find((name) => name.startsWith(`${id}.`));
		return name === undefined ? null : path.join(this.#dir, name);
	}
}

/** Artifacts of a session without a file. */
class InMemoryArtifacts {
	#texts = [];

	async allocatePath() {
		return {};
	}

	async save(content) {
		return String(this.#texts.push(content) - 1);
	}

	async getPath() {
		return null;
	}
}

/** The artifacts of the session that a manager is on. */
class Artifacts {
	#file;
	#store;

	/** @param {string | undefined} file of the session; undefined for one in memory */
	of(file) {
		if (this.#store === undefined || this.#file !== file) {
			this.#store = file === undefined ? new InMemoryArtifacts() : new ArtifactStore(file);
			this.#file = file;
		}
		return this.#store;
	}

	/** Another session begins; in memory its file does not tell. */
	forget() {
		this.#store = undefined;
	}
}

module.exports = { Artifacts, ArtifactStore, artifactsDir, InMemoryArtifacts };
