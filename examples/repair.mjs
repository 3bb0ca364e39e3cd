/**
 * Says what is wrong with a session file, and mends it if asked to.
 *
 *   node examples/repair.mjs <file>            changes nothing
 *   node examples/repair.mjs <file> --write    keeps the original beside it
 */
import { SessionManager } from "../index.mjs";

const [file, write] = process.argv.slice(2);

async function look() {
	const found = await SessionManager.verify(file);
	console.log(found.ok ? "nothing to mend" : `not well: ${found.reason}`);
	console.log(`${found.entries} entries on ${found.lines} lines, header: ${found.hasHeader ? "yes" : "no"}`);
	for (const { line, offset, reason } of found.skipped) console.log(`line ${line}, byte ${offset}: ${reason}`);
	if (found.tornTail !== null) console.log(`cut off at byte ${found.tornTail}`);
	for (const kind of ["orphans", "cycles", "duplicateIds", "missingBlobs"]) {
		if (found[kind].length > 0) console.log(`${kind}: ${found[kind].join(", ")}`);
	}
	return found;
}

/** Without `--write` it only says what it would do. */
async function mend() {
	const done = await SessionManager.repair(file, { dryRun: write !== "--write" });
	const would = done.dryRun ? "would keep" : "kept";
	console.log(
		`${would} ${done.entries} entries, ${done.reconnected} of them on another parent, left out ${done.leftOut}`,
	);
	if (done.newHeader) console.log("with a new header");
	if (done.backup) console.log(`the original is ${done.backup}`);
}

try {
	if (file === undefined) throw new Error("which file? node examples/repair.mjs <file> [--write]");
	const { ok } = await look();
	if (!ok) await mend();
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
}
