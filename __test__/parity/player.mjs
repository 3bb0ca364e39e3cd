/**
 * Plays a call sequence on an implementation and tells what happened: results, errors, the state in
 * memory and the files. Ids, times and paths are renamed by first appearance, so that two
 * implementations can be compared.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";

/** Undefined, dates and key order do not survive JSON; what is left is what is compared. */
function plain(value) {
	if (value instanceof Date) return "<date>";
	if (Array.isArray(value)) return value.map((item) => plain(item) ?? null);
	if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
	const sorted = {};
	for (const key of Object.keys(value).sort()) {
		const item = plain(value[key]);
		if (item !== undefined)
			Object.defineProperty(sorted, key, { value: item, enumerable: true, configurable: true, writable: true });
	}
	return sorted;
}

const PATTERN =
	/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z|(?<![0-9A-Za-z])(?:[0-9a-f]{16}|[0-9a-f]{8}|1[789]\d{11})(?![0-9A-Za-z])/g;

/** Renames what is different in every run. */
class Renamer {
	names = new Map();

	constructor(dir) {
		this.dir = dir;
	}

	text(value) {
		return JSON.stringify(value === undefined ? "<undefined>" : plain(value))
			.replaceAll(this.dir, "$DIR")
			.replace(PATTERN, (found) => {
				if (found === "1772615000000") return found;
				if (found.includes("T")) return "<time>";
				if (/^\d{13}$/.test(found)) return "<ms>";
				if (!this.names.has(found)) this.names.set(found, `#${this.names.size}`);
				return this.names.get(found);
			});
	}
}

function sessionFiles(dir) {
	if (!fs.existsSync(dir)) return [];
	return fs
		.readdirSync(dir, { recursive: true })
		.map(String)
		.filter((name) => name.endsWith(".jsonl"))
		.map((name) => path.join(dir, name));
}

/**
 * Replay data of a provider goes from memory when a file is read. Copied lines keep it in the file
 * here, where the agent writes them without.
 */
function withoutReplay(line) {
	if (line.message) {
		delete line.message.providerPayload;
		for (const block of Array.isArray(line.message.content) ? line.message.content : []) delete block.thinkingSignature;
	}
	return line;
}

/** Lines of a file as values, so that key order and number forms do not count. */
function readLines(file) {
	return fs
		.readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => withoutReplay(JSON.parse(line)));
}

class Player {
	constructor(api, sequence, dir) {
		this.api = api;
		this.sequence = sequence;
		this.dir = dir;
		this.cwd = "/srv/one";
		this.renamer = new Renamer(dir);
		this.trace = [];
		this.manager = sequence.memory ? api.SessionManager.inMemory(this.cwd) : api.SessionManager.create(this.cwd);
	}

	/** The entry that a position means, as an id. */
	argument(value) {
		if (typeof value !== "object" || value === null || typeof value.entry !== "number") return value;
		const entries = this.manager.getEntries();
		return entries.length === 0 ? "none" : entries[value.entry % entries.length].id;
	}

	state() {
		const { manager } = this;
		return {
			entries: manager.getEntries(),
			leaf: manager.getLeafId(),
			leafEntry: manager.getLeafEntry()?.id,
			header: manager.getHeader(),
			name: manager.getSessionName(),
			cwd: manager.getCwd(),
			context: manager.buildSessionContext(),
			tree: shape(manager.getTree()),
			usage: { ...manager.getUsageStatistics() },
			file: manager.getSessionFile(),
			artifacts: manager.getArtifactsDir(),
			persisted: manager.isPersisted(),
		};
	}

	async settle() {
		await this.manager.flush();
	}

	/** The session's file as it is when everything is on disk. */
	async stored() {
		if (!this.manager.isPersisted()) return null;
		await this.settle();
		await this.manager.ensureOnDisk();
		await this.settle();
		return readLines(this.manager.getSessionFile());
	}

	/** Makes a file the newest beyond doubt. */
	touch(file) {
		if (!fs.existsSync(file)) return;
		this.later = (this.later ?? Date.now()) + 10_000;
		fs.utimesSync(file, this.later / 1000, this.later / 1000);
	}

	/** The agent holds entries back after a fork until it answers; here they are written at once. */
	async writeHeldBack() {
		const file = this.manager.getSessionFile();
		if (file !== undefined && fs.existsSync(file)) await this.manager.ensureOnDisk();
	}

	async special(name, args) {
		const { SessionManager } = this.api;
		switch (name) {
			case "reopen": {
				if (this.sequence.memory) return "memory";
				const lines = await this.stored();
				this.manager = await SessionManager.open(this.manager.getSessionFile());
				return lines;
			}
			case "editMessage": {
				const entry = this.manager.getEntry(args[0]);
				if (entry?.type === "message") {
					entry.message.content = [{ type: "text", text: args[1] }];
					await this.manager.rewriteEntries();
				}
				return this.stored();
			}
			case "moveTo": {
				if (this.sequence.memory) return "memory";
				await this.stored();
				await this.manager.moveTo(args[0]);
				this.cwd = args[0];
				return this.stored();
			}
			case "list":
				await this.settle();
				return infos(await SessionManager.list(this.cwd));
			case "listAll":
				await this.settle();
				return infos(await SessionManager.listAll());
			case "continueRecent":
				if (this.sequence.memory) return "memory";
				await this.stored();
				this.touch(this.manager.getSessionFile());
				this.manager = await SessionManager.continueRecent(this.cwd);
				return "continued";
			case "forkFrom": {
				if (this.sequence.memory) return "memory";
				await this.stored();
				this.cwd = args[0];
				this.manager = await SessionManager.forkFrom(this.manager.getSessionFile(), this.cwd);
				return this.stored();
			}
			case "captureAndRestore": {
				await this.stored();
				const state = this.manager.captureState();
				const before = this.manager.getEntries().length;
				await this.manager.newSession();
				this.manager.appendMessage(args[0]);
				await this.stored();
				this.manager.restoreState(state);
				return [state.sessionId, state.sessionName, before];
			}
			case "freeContext":
				return this.api.buildSessionContext(this.manager.getEntries(), args[0]);
			case "resolve": {
				if (this.sequence.memory) return "memory";
				await this.stored();
				const id = this.manager.getSessionId();
				const found = await this.api.resolveResumableSession(id.slice(0, 16), this.cwd);
				return [found?.session.id, found?.scope, await this.api.resolveResumableSession("no such", this.cwd)];
			}
			case "recent": {
				if (this.sequence.memory) return "memory";
				await this.stored();
				const dir = path.dirname(this.manager.getSessionFile());
				// The agent reads the first 4 kB of a file and misses what comes later.
				if (sessionFiles(dir).some((file) => readLines(file).length > 7)) return "large";
				const recent = await this.api.getRecentSessions(dir, 50);
				return recent.map(({ path: file, name, fullName, timeAgo }) => [file, name, fullName, timeAgo]).sort();
			}
			case "createBranchedSession":
				// The agent leaves entries hanging on labels that it did not copy.
				if (this.manager.getBranch(args[0]).some((entry) => entry.type === "label")) return "labels on the path";
				break;
		}
		const result = await this.manager[name](...args);
		// The agent drops the title from a branched session's header, although the session keeps it.
		if (name === "createBranchedSession") await this.manager.setSessionName(this.manager.getSessionName() ?? "Branch");
		if (name === "fork" || name === "createBranchedSession") return [result, await this.stored()];
		if (name === "getBranch" || name === "getChildren") return result.map((entry) => entry.id);
		return result;
	}

	async play() {
		// Some calls change what they were given, so every player has its own.
		for (const [name, ...args] of structuredClone(this.sequence.calls)) {
			const given = args.map((arg) => this.argument(arg));
			let outcome;
			try {
				outcome = { result: await this.special(name, given) };
			} catch (error) {
				outcome = { error: String(error?.message) };
			}
			// The agent can write an entry twice that is appended while its file is being rewritten.
			await this.settle();
			await this.writeHeldBack();
			this.trace.push([name, this.renamer.text(outcome), this.renamer.text(this.state())]);
		}
		this.trace.push([
			"end",
			this.renamer.text(await this.stored()),
			this.renamer.text(
				sessionFiles(this.dir)
					.map((file) => readLines(file).length)
					.sort(),
			),
		]);
		return this.trace;
	}
}

function infos(list) {
	return list
		.map(({ id, title, messageCount, firstMessage, allMessagesText, parentSessionPath, cwd }) => ({
			id,
			title,
			messageCount,
			firstMessage,
			allMessagesText,
			parentSessionPath,
			cwd,
		}))
		.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function shape(nodes) {
	const out = [];
	const open = nodes.map((node) => [node, 0]).reverse();
	while (open.length > 0) {
		const [node, depth] = open.pop();
		out.push([depth, node.entry.id, node.label]);
		for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
	}
	return out;
}

/** @returns {Promise<[string, string, string][]>} name, outcome and state of each call */
export async function play(api, sequence, dir) {
	fs.rmSync(dir, { recursive: true, force: true });
	fs.mkdirSync(dir, { recursive: true });
	return new Player(api, sequence, dir).play();
}

/** A short hash of each call's outcome and state. */
export function traceHashes(trace) {
	return trace.map((step) => createHash("sha256").update(JSON.stringify(step)).digest("hex").slice(0, 12));
}
