/**
 * Follows a session that somebody else writes to, such as the agent in another terminal, and prints each
 * entry as it comes. Ends when an entry gets the label "done", or with Ctrl+C.
 *
 *   node examples/follow.mjs <session file>
 */
import { existsSync, watch } from "node:fs";
import * as path from "node:path";
import { SessionManager } from "../index.mjs";

const file = path.resolve(process.argv[2] ?? "");
// `open` would begin a new session where there is no file.
if (!process.argv[2] || !existsSync(file)) {
	console.error(`follow which file? there is no session at ${file}`);
	process.exit(1);
}
const session = await SessionManager.open(file);
let seen = session.getEntries().length;
console.log(`following ${session.getSessionId()}, ${seen} entries so far`);

function describe(entry) {
	if (entry.type !== "message") return entry.type;
	const { role, content } = entry.message;
	return `${role}: ${typeof content === "string" ? content : content?.map((block) => block.text ?? block.type).join(" ")}`;
}

/** Takes in what was appended since; resolves to whether to go on. */
async function look() {
	await session.refresh();
	const added = session.getEntries().slice(seen);
	for (const entry of added) console.log(`${entry.id} ${describe(entry)}`);
	seen += added.length;
	return !added.some((entry) => entry.type === "label" && entry.label === "done");
}

// The folder is watched and not the file: a rewrite puts another file in its place. The clock helps where the system
// does not tell of changes.
const changed = new EventTarget();
const watcher = watch(path.dirname(file), () => changed.dispatchEvent(new Event("change")));
const clock = setInterval(() => changed.dispatchEvent(new Event("change")), 1000);

while (await look()) {
	await new Promise((resolve) => changed.addEventListener("change", resolve, { once: true }));
}
clearInterval(clock);
watcher.close();
await session.close();
