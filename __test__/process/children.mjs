/** Starts writers, collects what they acknowledged, and looks at what is in the file. */
import { spawn } from "node:child_process";
import * as path from "node:path";
import { readLines } from "../support/read-lines.mjs";

/** @returns {{ child, acknowledged: object[], ended: Promise<{ code, signal, stderr }> }} */
export function startWriter(args, env = {}, program = "writer.mjs") {
	const child = spawn(process.execPath, [path.join(import.meta.dirname, program), ...args.map(String)], {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, ...env },
	});
	const acknowledged = [];
	let rest = "";
	let stderr = "";
	child.stdout.on("data", (chunk) => {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop();
		for (const line of lines) acknowledged.push(JSON.parse(line));
	});
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stderr })));
	return { child, acknowledged, ended };
}

/** How often each id is in a file. */
export function countIds(file) {
	const counts = new Map();
	for (const line of readLines(file)) if (line?.id) counts.set(line.id, (counts.get(line.id) ?? 0) + 1);
	return counts;
}

/** Acknowledged entries that are missing in a file, and those that are there more than once. */
export function audit(file, acknowledged) {
	const counts = countIds(file);
	const ids = acknowledged.filter((line) => line.id).map((line) => line.id);
	return { missing: ids.filter((id) => !counts.has(id)), doubled: ids.filter((id) => counts.get(id) > 1) };
}
