/**
 * A process that works on a session and reports each acknowledged call as a line of JSON.
 * `writer.mjs <file> <name> <seed> <calls> [kinds] [stop]`: with `stop` it closes when a file of that name is there.
 */
import * as fs from "node:fs";
import { SessionManager } from "../../index.mjs";
import { random } from "../parity/sequences.mjs";

const [file, name, seed, calls, kinds = "append", stop] = process.argv.slice(2);
const next = random(Number(seed));
const pick = (list) => list[Math.floor(next() * list.length)];

/** Told synchronously: what the parent has read was acknowledged before the kill. */
function report(line) {
	fs.writeSync(1, `${JSON.stringify(line)}\n`);
}

const message = (text) => ({
	role: "assistant",
	content: [{ type: "text", text }],
	provider: "p",
	model: "m",
	usage: { input: 1, output: 1 },
	timestamp: 1,
});

const session = await SessionManager.open(file);
report({ ready: true });
for (let call = 0; call < Number(calls); call++) {
	const kind = pick(kinds.split(","));
	const text = `${name}-${call} ${"x".repeat(Math.floor(next() * 3000))}`;
	if (kind === "append") {
		report({ id: session.appendMessage(message(text)), text });
	} else if (kind === "rename") {
		await session.setSessionName(`${name}-${call}`);
		report({ name: `${name}-${call}` });
	} else if (kind === "edit") {
		const own = session.getEntries().findLast((entry) => entry.message?.content?.[0]?.text?.startsWith(`${name}-`));
		if (own) {
			own.message.edited = call;
			await session.rewriteEntries();
			report({ edited: own.id, call });
		}
	} else if (kind === "fork") {
		const { newSessionFile } = await session.fork();
		report({ file: newSessionFile });
	} else if (kind === "move") {
		await session.moveTo(pick(["/srv/one", "/srv/two", "/srv/three"]));
		report({ file: session.getSessionFile() });
	} else if (kind === "flush") {
		await session.flush();
		report({ flushed: true });
	} else if (kind === "close") {
		await session.close();
		report({ closed: true });
	} else if (kind === "branch") {
		report({ file: session.createBranchedSession(session.getLeafId()) });
	} else if (kind === "new") {
		await session.newSession();
		const ids = [session.appendModelChange("p/m"), session.appendCustomEntry("note", text)];
		if (call % 2 === 0) {
			await session.ensureOnDisk();
			for (const id of ids) report({ id });
		}
	} else if (kind === "refresh") {
		await session.refresh();
	} else if (kind === "pause") {
		await new Promise((resolve) => setTimeout(resolve, next() * 4));
	}
}
report({ done: true });
while (stop && !fs.existsSync(stop)) await new Promise((resolve) => setTimeout(resolve, 2));
await session.close();
