/** Artifacts: outputs too long for a message, kept in a folder beside the session file. */

const fs = require("node:fs");
const path = require("node:path");
const { ensureDir } = require("./places.js");

const NAME = /^(\d+)\..*\.log$/s;

/** A type as a part of a file name that cannot leave the folder. */
function safeType(toolType) {
	return toolType.replace(/[/\\\0]/g, "-").slice(0, 100) || "artifact";
}

class ArtifactStore {
	#dir;
	#next;

	/** @param {string} sessionFile path of the session's file */
	constructor(sessionFile) {
		this.#dir = sessionFile.endsWith(".jsonl") ? sessionFile.slice(0, -".jsonl".length) : `${sessionFile}.artifacts`;
	}

	get dir() {
		return this.#dir;
	}

	#names() {
		try {
			return fs.readdirSync(this.#dir);
		} catch {
			return [];
		}
	}

	#nextNumber() {
		if (this.#next === undefined) {
			const numbers = this.#names().map((name) => Number(NAME.exec(name)?.[1] ?? -1));
			this.#next = numbers.reduce((highest, number) => Math.max(highest, number), -1) + 1;
		}
		return this.#next++;
	}

	/** Numbers that another store on the same folder took since are passed over. */
	#freeNumber() {
		let number = this.#nextNumber();
		const taken = new Set(this.#names().map((name) => Number(NAME.exec(name)?.[1] ?? -1)));
		while (taken.has(number)) number = this.#nextNumber();
		return number;
	}

	/** Gives out a path that is free. */
	async allocatePath(toolType) {
		ensureDir(this.#dir);
		const id = String(this.#freeNumber());
		return { id, path: path.join(this.#dir, `${id}.${safeType(toolType)}.log`) };
	}

	/** Stores a text; resolves to its id. */
	async save(content, toolType) {
		for (;;) {
			const allocated = await this.allocatePath(toolType);
			try {
				await fs.promises.writeFile(allocated.path, content, { flag: "wx", mode: 0o600 });
				return allocated.id;
			} catch (error) {
				if (error.code !== "EEXIST") throw error;
			}
		}
	}

	/** The file of an artifact; null if there is none. */
	async getPath(id) {
		if (!/^\d+$/.test(id)) return null;
		const name = this.#names().find((name) => name.startsWith(`${id}.`));
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

module.exports = { ArtifactStore, InMemoryArtifacts };
