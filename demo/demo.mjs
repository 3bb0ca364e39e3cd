/**
 * Shows a session: its tree, the context that the model would get; then appends, branches, closes,
 * reopens and checks that all is there. With a path as argument it only reads that file. It needs
 * the addon; `npm run demo` builds it first.
 */
import { strict as assert } from "node:assert";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { getBlobsDir, SessionManager } from "../index.mjs";
import { bold, dim, green, heading, showContext, showTree } from "./view.mjs";

const SAMPLE = fileURLToPath(new URL("sample-session.jsonl", import.meta.url));

function showSession(session, milliseconds) {
	const report = session.getLoadReport();
	const usage = session.getUsageStatistics();
	heading(session.getSessionName() ?? "(no name)");
	console.log(`${dim("file")} ${session.getSessionFile()}`);
	console.log(
		`${dim("id")} ${session.getSessionId()}  ${dim("cwd")} ${session.getCwd()}  ${dim("version")} ${session.getHeader().version}`,
	);
	console.log(
		`${report.entries} entries on ${report.lines} lines, opened in ${milliseconds.toFixed(1)} ms; ${usage.input} tokens in, ${usage.output} out, cost ${usage.cost.toFixed(4)}`,
	);
	for (const { line, reason } of report.skipped.slice(0, 5)) console.log(`line ${line} was skipped: ${reason}`);
	if (report.skippedCount > 5) console.log(`… and ${report.skippedCount - 5} more lines`);
	if (report.tornTail !== null)
		console.log("the last line is cut off; it is kept, and the next append starts a fresh one");
	heading("The tree");
	showTree(session);
	heading("What the model gets at the leaf");
	showContext(session.buildSessionContext());
}

async function open(file) {
	const started = performance.now();
	const session = await SessionManager.open(file);
	return [session, performance.now() - started];
}

/** White space of the format, and the mark that may begin a file. */
const BLANK = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20]);
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Whether a file of any size holds nothing but white space; ends at the first byte that is not. */
function isBlank(file) {
	const descriptor = fs.openSync(file, "r");
	try {
		const chunk = Buffer.alloc(1 << 16);
		for (let position = 0; ; ) {
			const length = fs.readSync(descriptor, chunk, 0, chunk.length, position);
			if (length === 0) return true;
			const marked = position === 0 && chunk.subarray(0, length).indexOf(BYTE_ORDER_MARK) === 0;
			if (chunk.subarray(marked ? BYTE_ORDER_MARK.length : 0, length).some((byte) => !BLANK.has(byte))) return false;
			position += length;
		}
	} finally {
		fs.closeSync(descriptor);
	}
}

/** A directory that is gone when the demo ends, also with an error. */
function temporaryDir() {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-demo-"));
	process.on("exit", () => fs.rmSync(dir, { recursive: true, force: true }));
	return dir;
}

/**
 * An agent directory of the demo's own. Opening a session notes it as this terminal's last one, which
 * would change what the agent continues here. The images stay in sight.
 */
function separateAgentDir(dir, blobs) {
	const agentDir = path.join(dir, "agent");
	fs.mkdirSync(agentDir);
	if (blobs !== undefined && fs.existsSync(blobs)) fs.symlinkSync(blobs, path.join(agentDir, "blobs"), "junction");
	process.env.PI_CODING_AGENT_DIR = agentDir;
}

async function readOnly(file) {
	// Opening a path that does not exist would begin a session there.
	const before = fs.statSync(file, { bigint: true });
	if (before.isFile() && isBlank(file)) {
		const reason = `${file} is empty: opening it would begin a session there`;
		throw Object.assign(new Error(reason), { code: "ERR_INVALID_ARGUMENT" });
	}
	separateAgentDir(temporaryDir(), getBlobsDir());
	const [session, milliseconds] = await open(file);
	showSession(session, milliseconds);
	await session.close();
	const after = fs.statSync(file, { bigint: true });
	assert.deepEqual([after.ino, after.size, after.mtimeNs], [before.ino, before.size, before.mtimeNs]);
	console.log(`\n${green("The file was only read.")}`);
}

async function wholeRound() {
	const dir = temporaryDir();
	separateAgentDir(dir);
	const file = path.join(dir, "sample-session.jsonl");
	fs.copyFileSync(SAMPLE, file);
	const [session, milliseconds] = await open(file);
	showSession(session, milliseconds);
	heading("Appending, branching, closing, opening again");
	const question = session.appendMessage({ role: "user", content: "And the wind?", timestamp: Date.now() });
	session.branch("5a000017");
	const summary = session.branchWithSummary("5a000017", "Asked for the wind; there is no sensor for it.");
	const answer = session.appendMessage({
		role: "assistant",
		content: [{ type: "text", text: "A reed anemometer fits the free pin of the rain gauge board." }],
		api: "anthropic-messages",
		provider: "anthropic",
		model: "claude-sonnet-4-5",
		usage: {
			input: 90,
			output: 16,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: 106,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.0005 },
		},
		stopReason: "stop",
		timestamp: Date.now(),
	});
	session.appendLabelChange(answer, "wind");
	await session.setSessionName("A weather station with wind");
	const before = {
		entries: session.getEntries().map((entry) => entry.id),
		context: JSON.stringify(session.buildSessionContext()),
	};
	await session.close();
	const [again, time] = await open(file);
	assert.deepEqual(
		again.getEntries().map((entry) => entry.id),
		before.entries,
	);
	assert.equal(JSON.stringify(again.buildSessionContext()), before.context);
	assert.deepEqual([again.getLabel(answer), again.getEntry(summary).parentId], ["wind", "5a000017"]);
	assert.equal(again.getEntry(question).message.content, "And the wind?");
	assert.equal(again.getSessionName(), "A weather station with wind");
	showSession(again, time);
	await again.close();
	console.log(
		`\n${green("All is there after reopening:")} ${before.entries.length} entries, the question, the new branch, the label and the name.`,
	);
}

async function main() {
	const [file] = process.argv.slice(2);
	console.log(bold("omp-session"));
	await (file === undefined ? wholeRound() : readOnly(path.resolve(file)));
}

process.stdout.on("error", (error) => {
	// Whoever read the output has seen enough. To exit here would leave files that are just being written.
	if (error.code !== "EPIPE") throw error;
});

main().catch((error) => {
	const advice = { ENOENT: "there is no such file", EISDIR: "give the path of a session file in it" }[error.code];
	const sentence = advice ? `${error.path}: ${advice}` : error.message;
	console.error(error.code && !sentence.includes(error.code) ? `${sentence} (${error.code})` : sentence);
	process.exitCode = 1;
});
