/**
 * A program that knows nothing of locks and works on a session's file; reports as `writer.mjs` does.
 * `stranger.mjs <file> <name> <seed> <calls> append|replace`
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { random } from "../parity/sequences.mjs";

const [file, name, seed, calls, kind] = process.argv.slice(2);
const next = random(Number(seed));
const kept = fs.openSync(file, "a");
const number = name.charCodeAt(0).toString(16);

for (let call = 0; call < Number(calls); call++) {
	const id = `${number}${call.toString(16).padStart(6, "0")}`;
	if (kind === "append") {
		const data = "y".repeat(Math.floor(next() * 3000));
		const entry = { type: "custom", id, parentId: null, timestamp: "2024-12-03T14:00:00.000Z", customType: name, data };
		fs.writeSync(kept, `${JSON.stringify(entry)}\n`);
		fs.writeSync(1, `${JSON.stringify({ id })}\n`);
	} else {
		const temporary = path.join(path.dirname(file), `.${name}`);
		fs.writeFileSync(temporary, fs.readFileSync(file));
		fs.renameSync(temporary, file);
	}
	await new Promise((resolve) => setTimeout(resolve, next() * 6));
}
