import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { HEADER, messageLine, text, user } from "../support/lines.mjs";
import { at, freshPlaces, write } from "../support/place.mjs";

freshPlaces();

const INDEX = pathToFileURL(path.join(import.meta.dirname, "../../index.mjs")).href;

/** Session files; `FILES` asks for more. */
const FILES = Number(process.env.FILES ?? 5_000);

const PROGRAM = `
import { findMostRecentSession, getRecentSessions, resolveResumableSession, SessionManager } from ${JSON.stringify(INDEX)};
const [dir, cwd] = process.argv.slice(2);
const infos = await SessionManager.listAll();
const texts = infos.filter((info) => info.allMessagesText.startsWith("message of ")).length;
const newest = await findMostRecentSession(dir);
const recent = await getRecentSessions(dir, 10);
const match = await resolveResumableSession("id-77-", cwd);
console.log(JSON.stringify({
	files: new Set(infos.map((info) => info.path)).size,
	ids: new Set(infos.map((info) => info.id)).size,
	messages: infos.reduce((sum, info) => sum + info.messageCount, 0),
	texts,
	newest,
	recent: recent.map((one) => one.path),
	match: match.session.path,
}));
`;

/** What a program with few descriptors prints. */
function run(source, ...rest) {
	const args = [write("program.mjs", source), ...rest];
	// Both runtimes raise the soft limit when they start, so the hard one is set too. Windows has none.
	const { stdout, stderr, status } =
		process.platform === "win32"
			? spawnSync(process.execPath, args, { encoding: "utf8" })
			: spawnSync("/bin/sh", ["-c", 'ulimit -n 256 && exec "$0" "$@"', process.execPath, ...args], {
					encoding: "utf8",
				});
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout);
}

test("however many session files there are, few descriptors are enough for all lists", () => {
	const dir = at("agent/sessions/--srv-garden--");
	fs.mkdirSync(dir, { recursive: true });
	for (let number = 0; number < FILES; number++) {
		const lines = text({ ...HEADER, id: `id-${number}-x` }, messageLine(1, user(`message of ${number}`)));
		fs.writeFileSync(path.join(dir, `${number}.jsonl`), lines);
	}
	const newest = path.join(dir, "1234.jsonl");
	const future = new Date(Date.now() + 60_000);
	fs.utimesSync(newest, future, future);
	const { recent, ...seen } = run(PROGRAM, dir, "/srv/garden");
	assert.deepEqual(seen, {
		files: FILES,
		ids: FILES,
		messages: FILES,
		texts: FILES,
		newest,
		match: path.join(dir, "77.jsonl"),
	});
	assert.equal(recent[0], newest);
	assert.equal(new Set(recent).size, 10);
});

test("however many sessions are opened at once, few descriptors are enough", () => {
	const files = Array.from({ length: 1500 }, (_, number) =>
		write(`s/${number}.jsonl`, text(HEADER, messageLine(1, user(`message of ${number}`)))),
	);
	const seen = run(
		`
		import { readFileSync } from "node:fs";
		import { SessionManager } from ${JSON.stringify(INDEX)};
		const files = JSON.parse(readFileSync(process.argv[2], "utf8"));
		const sessions = await Promise.all(files.map((file) => SessionManager.open(file)));
		console.log(JSON.stringify(sessions.map((session) => session.getEntries()[0].message.content)));
	`,
		write("files.json", JSON.stringify(files)),
	);
	assert.deepEqual(
		seen,
		files.map((_, number) => `message of ${number}`),
	);
});
