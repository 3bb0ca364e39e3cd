/**
 * What a list shows of a session. The text of all messages is read when somebody asks for it: until
 * then `allMessagesText` is an accessor, the same pair of functions for all sessions.
 */

const { Given } = require("./given.js");

class TextSource extends Given {
	#listing;
	#row;

	constructor(info, listing, row) {
		super(info);
		this.#listing = listing;
		this.#row = row;
	}

	static read(receiver) {
		// The receiver may inherit from the object that was listed.
		let info = receiver;
		while (info !== null && !(#listing in info)) info = Object.getPrototypeOf(info);
		if (info === null) return undefined;
		try {
			return info.#listing.text(info.#row, info.path);
		} catch {
			// The file went away since it was listed: there is no text any more.
			return "";
		}
	}
}

function keep(info, value) {
	Reflect.defineProperty(info, "allMessagesText", { value, writable: true, enumerable: true, configurable: true });
}

const accessor = {
	enumerable: true,
	configurable: true,
	get() {
		if (typeof this !== "object" || this === null) return undefined;
		const text = TextSource.read(this);
		keep(this, text);
		return text;
	},
	set(text) {
		if (typeof this === "object" && this !== null) keep(this, text);
	},
};

/**
 * @param {object} row as the native part gives it
 * @param {{ text(row: number, path: string): string }} listing reads the text of all messages
 * @param {number} at number of the row
 */
function sessionInfo(row, listing, at) {
	const info = {
		path: row.path,
		id: row.id,
		cwd: row.cwd ?? "",
		title: row.title ?? row.shortSummary,
		parentSessionPath: row.parentSession,
		// A number where the time is in its usual form: reading text takes longer.
		created: new Date(row.created ?? Number.NaN),
		modified: new Date(Math.round(row.modified)),
		messageCount: row.messageCount,
		firstMessage: row.firstPrompt ?? "(no messages)",
	};
	Object.defineProperty(info, "allMessagesText", accessor);
	new TextSource(info, listing, at);
	return info;
}

module.exports = { sessionInfo };
