/**
 * Appends, renames, edits, forks, moves and branches while calls fail, then checks that everything
 * acknowledged is there and that all works again. Prints `{ problems, errors }`.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { SessionManager } from "../../index.mjs";
import { countIds } from "../process/children.mjs";
import { assistant, entry, HEADER, text } from "../support/lines.mjs";

const [dir, fault] = process.argv.slice(2);
const problems = [];
const promised = ["00000001"];
let errors = 0;

function setFault(line) {
	fs.writeFileSync(process.env.FAULTS, line);
}

/** Errors are expected; ones without code and place are not. */
async function attempt(work) {
	try {
		return await work();
	} catch (error) {
		errors++;
		if (typeof error.code !== "string" || typeof error.path !== "string")
			problems.push(`unclear error: ${error.message}`);
		if (error.entryId) promised.push(error.entryId);
		return undefined;
	}
}

setFault("");
const file = path.join(dir, "s", "one.jsonl");
fs.mkdirSync(path.dirname(file));
fs.writeFileSync(file, text(HEADER, entry(1, "custom", { customType: "x" })));
const session = await SessionManager.open(file);

async function append(name) {
	const id = await attempt(() => session.appendMessage(assistant(name)));
	if (id) promised.push(id);
}

setFault(fault);
await append("a");
await append("b");
await attempt(() => session.setSessionName("Name"));
await append("c");
await attempt(() => session.flush());
await attempt(() => {
	session.getEntries().at(-1).message.extra = 1;
	return session.rewriteEntries();
});
await append("d");
await attempt(() => session.fork());
await append("e");
await attempt(() => session.moveTo("/srv/elsewhere"));
await append("f");
await attempt(() => session.createBranchedSession(session.getLeafId()));
await append("g");
await attempt(() => session.close());
setFault("");

promised.push(session.appendMessage(assistant("final")));
await session.close();
const again = await SessionManager.open(session.getSessionFile());
const present = new Set(again.getEntries().map((item) => item.id));
for (const id of promised) if (!present.has(id)) problems.push(`${id} is missing`);
if (again.getEntries().length !== session.getEntries().length) problems.push("other entries after reopening");
const names = fs.readdirSync(dir, { recursive: true }).map((name) => path.join(dir, String(name)));
for (const name of names.filter((name) => name.endsWith(".tmp"))) problems.push(`${name} was left`);
for (const name of names.filter((name) => name.endsWith(".jsonl"))) {
	for (const [id, count] of countIds(name))
		if (count > 1 && id !== HEADER.id) problems.push(`${id} is ${count} times in ${name}`);
}
console.log(JSON.stringify({ problems, errors }));
process.exit(0);
