/**
 * Runs the agent as it is and with its session manager replaced by this one, on the same prompts, and
 * compares what it says and what it stores. `node run.mjs <agent package> <bun>`
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { startServer } from "./mock-server.mjs";

const [agentPackage, bun] = process.argv.slice(2);
const INDEX = path.resolve(import.meta.dirname, "../../../index.mjs");
const REPLACE = path.resolve(import.meta.dirname, "../../../examples/replace-session-manager.mjs");
const ROOT = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "omp-session-agent-"));

/** A copy of the agent whose session manager is a re-export of this package. */
function replacedAgent() {
	const copy = path.join(agentPackage, "../../../replaced/node_modules/@oh-my-pi/pi-coding-agent");
	fs.rmSync(copy, { recursive: true, force: true });
	fs.cpSync(agentPackage, copy, { recursive: true });
	const made = spawnSync(process.execPath, [REPLACE, copy, INDEX], { encoding: "utf8" });
	if (made.status !== 0) throw new Error(made.stderr);
	return copy;
}

/** Everything one run of the scenario has: a home, a project, an agent directory. */
function makePlace(name, url) {
	const place = {
		name,
		home: path.join(ROOT, name, "home"),
		project: path.join(ROOT, name, "project"),
		agentDir: path.join(ROOT, name, "agent"),
	};
	for (const dir of [place.home, place.project, place.agentDir]) fs.mkdirSync(dir, { recursive: true });
	const model = {
		id: "mock-1",
		name: "Mock",
		input: ["text", "image"],
		contextWindow: 100_000,
		maxTokens: 1000,
		cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
	};
	const models = { providers: { mock: { baseUrl: url, apiKey: "none", api: "openai-completions", models: [model] } } };
	fs.writeFileSync(path.join(place.agentDir, "models.yml"), JSON.stringify(models));
	return place;
}

/** Starts the agent; `ended` resolves when it is over. */
function start(agent, place, args, stdin) {
	const env = {
		PATH: process.env.PATH,
		HOME: place.home,
		PI_CODING_AGENT_DIR: place.agentDir,
		NO_COLOR: "1",
		TERM: "dumb",
	};
	const fixed = ["--model", "mock/mock-1", "--no-lsp", "--no-extensions", "--no-skills", "--no-title"];
	const command = [path.join(agent, "src/cli.ts"), ...args, ...fixed];
	const child = spawn(bun, command, { cwd: place.project, env, stdio: [stdin, "pipe", "pipe"] });
	let [stdout, stderr] = ["", ""];
	child.stdout.on("data", (chunk) => {
		stdout += chunk;
	});
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	const timer = setTimeout(() => child.kill("SIGKILL"), 120_000);
	const ended = new Promise((resolve) => {
		child.on("close", (code) => {
			clearTimeout(timer);
			resolve({ code, stdout: stdout.trim(), stderr: stderr.trim() });
		});
	});
	return { child, ended };
}

/** Runs the agent once. */
function omp(agent, place, args) {
	return start(agent, place, args, "ignore").ended;
}

/** What can be compared of an answer over RPC. */
function outlineAnswer({ command, success, data, error }) {
	return [command, success, error, data?.tokens, data?.messages?.map((item) => item.role), data?.text];
}

/** Talks to the agent over its standard input: each command after the answer to the one before. */
async function rpc(agent, place, args, commands) {
	const { child, ended } = start(agent, place, ["--mode", "rpc", ...args], "pipe");
	const answers = [];
	let rest = "";
	let next = 0;
	let isAnswer = (line) => line.type === "ready";
	const send = () => {
		if (next === commands.length) return child.stdin.end();
		const command = commands[next++](answers);
		const id = String(next);
		// A prompt is over when the agent says that its turn has ended.
		const isOurs = (line) => line.type === "response" && (line.id ?? id) === id;
		isAnswer = command.type === "prompt" ? (line) => line.type === "agent_end" : isOurs;
		child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
	};
	child.stdout.on("data", (chunk) => {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop();
		for (const line of lines.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text))) {
			if (!isAnswer(line)) continue;
			if (line.type === "response") answers.push(line);
			send();
		}
	});
	const { code, stderr } = await ended;
	return { code, stdout: JSON.stringify(answers.map(outlineAnswer)), stderr };
}

function sessionsOf(place) {
	const root = path.join(place.agentDir, "sessions");
	if (!fs.existsSync(root)) return [];
	return fs
		.readdirSync(root, { recursive: true })
		.map((name) => path.join(root, String(name)))
		.filter((name) => name.endsWith(".jsonl"))
		.sort((a, b) => fs.statSync(a).mtimeMs - fs.statSync(b).mtimeMs);
}

function linesOf(file) {
	return fs
		.readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line));
}

/** The agent drops the title from the header of a branched session, whose parent is a path. */
function titleOf(line) {
	return line.parentSession?.includes("/") ? undefined : line.title;
}

/** What can be compared of a file: types, roles and texts; ids and times are different in every run. */
function outline(file) {
	return linesOf(file)
		.filter((line) => line.type !== "session_init")
		.map((line) => {
			const { message } = line;
			const content = Array.isArray(message?.content)
				? message.content.map((block) => block.text ?? block.name ?? block.type).join(" ")
				: message?.content;
			return [
				line.type,
				message?.role,
				content?.replaceAll(ROOT, "").replace(/\/(own|agent)\//g, "/"),
				line.model,
				titleOf(line),
				line.cwd && "cwd",
				line.parentSession && "parent",
			]
				.filter(Boolean)
				.join(" ");
		});
}

/** A project directory of the sessions root for files that are put there. */
function sessionDir(place) {
	const [file] = sessionsOf(place);
	return path.dirname(file);
}

const TIME = "2026-03-04T09:00:00.000Z";
const SECOND = 1000;

function put(place, name, lines) {
	const file = path.join(sessionDir(place), `2026-03-04T09-00-00-000Z_${name}.jsonl`);
	fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	const time = (Date.now() - 3600 * SECOND) / SECOND;
	fs.utimesSync(file, time, time);
	return file;
}

function header(place, id, extra = {}) {
	return { type: "session", version: 3, id, timestamp: TIME, cwd: place.project, ...extra };
}

function message(id, parentId, role, text) {
	const usage = {
		input: 1,
		output: 1,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 2,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const rest =
		role === "user"
			? { content: text }
			: {
					content: [{ type: "text", text }],
					api: "openai-completions",
					provider: "mock",
					model: "mock-1",
					usage,
					stopReason: "stop",
				};
	return { type: "message", id, parentId, timestamp: TIME, message: { role, ...rest, timestamp: 1 } };
}

const STEPS = {
	"a prompt of one turn": (agent, place) => omp(agent, place, ["-p", "hello"]),
	"a prompt with a tool call": (agent, place) => omp(agent, place, ["-p", "please use a tool"]),
	"--continue": (agent, place) => omp(agent, place, ["--continue", "-p", "and again"]),
	"--resume <id>": (agent, place) => {
		put(place, "5e55000000000001", [
			header(place, "5e55000000000001"),
			message("a0000001", null, "user", "first"),
			message("a0000002", "a0000001", "assistant", "second"),
		]);
		return omp(agent, place, ["--resume", "5e55000000000001", "-p", "third"]);
	},
	"a compacted session": (agent, place) => {
		const compaction = {
			type: "compaction",
			id: "a0000003",
			parentId: "a0000002",
			timestamp: TIME,
			summary: "What was said",
			shortSummary: "short",
			firstKeptEntryId: "a0000002",
			tokensBefore: 9,
		};
		put(place, "5e55000000000002", [
			header(place, "5e55000000000002"),
			message("a0000001", null, "user", "first"),
			message("a0000002", "a0000001", "assistant", "second"),
			compaction,
		]);
		return omp(agent, place, ["--resume", "5e55000000000002", "-p", "after it"]);
	},
	"a session of version 1": (agent, place) => {
		const { version: _, ...old } = header(place, "5e55000000000003");
		const plain = ({ id: __, parentId: ___, ...line }) => line;
		put(place, "5e55000000000003", [
			old,
			plain(message("", "", "user", "old first")),
			plain(message("", "", "assistant", "old second")),
		]);
		return omp(agent, place, ["--resume", "5e55000000000003", "-p", "old third"]);
	},
	"--fork": (agent, place) => omp(agent, place, ["--fork", "5e55000000000001", "-p", "in the fork"]),
	"rename, statistics and branch over RPC": (agent, place) =>
		rpc(
			agent,
			place,
			["--resume", "5e55000000000001"],
			[
				() => ({ type: "set_session_name", name: "Renamed" }),
				() => ({ type: "prompt", message: "one more" }),
				() => ({ type: "get_session_stats" }),
				() => ({ type: "get_messages" }),
				() => ({ type: "get_branch_messages" }),
				(answers) => ({ type: "branch", entryId: answers.at(-1).data.messages.at(-1).entryId }),
				() => ({ type: "prompt", message: "on the branch" }),
				() => ({ type: "get_messages" }),
			],
		),
	"an image prompt": (agent, place) => {
		const image = path.join(place.project, "dot.png");
		fs.writeFileSync(
			image,
			Buffer.from(
				"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
				"base64",
			),
		);
		return omp(agent, place, ["-p", "@dot.png", "what is this"]);
	},
};

const LOST_BY_THE_AGENT = ["a prompt of one turn", "an image prompt"];

async function play(agent, name) {
	const server = await startServer();
	const place = makePlace(name, server.url);
	const trace = [];
	for (const [step, run] of Object.entries(STEPS)) {
		const before = server.requests.length;
		const { code, stdout, stderr } = await run(agent, place);
		const asked = server.requests
			.slice(before)
			.map((request) => request.messages.filter((item) => item.role !== "system").length);
		trace.push({
			step,
			code,
			stdout,
			asked,
			files: sessionsOf(place).length,
			last: sessionsOf(place).slice(-1).map(outline)[0] ?? [],
			stderr: code === 0 ? "" : stderr.slice(-400),
		});
	}
	return { trace, place, server };
}

const theirs = await play(agentPackage, "agent");
const replaced = replacedAgent();
const ours = await play(replaced, "own");
let differences = 0;
for (const [at, own] of ours.trace.entries()) {
	const agent = theirs.trace[at];
	// The unmodified agent ends before a session of one turn is on disk.
	const lost = LOST_BY_THE_AGENT.includes(own.step);
	const compared = lost ? ["code", "stdout", "asked"] : ["code", "stdout", "asked", "last"];
	const parts = compared.filter((part) => JSON.stringify(own[part]) !== JSON.stringify(agent[part]));
	if (lost && own.last.filter((line) => line.startsWith("message")).length !== 2) parts.push("last");
	console.log(
		`${parts.length === 0 ? "same     " : "different"} ${own.step}: exit ${own.code}, "${own.stdout.slice(0, 60)}", ${own.last.length} lines`,
	);
	for (const part of parts)
		console.log(
			`   ${part}: agent ${JSON.stringify(agent[part]).slice(0, 500)}\n   ${part}: here  ${JSON.stringify(own[part]).slice(0, 500)}`,
		);
	if (own.stderr) console.log(`   stderr: ${own.stderr}`);
	differences += parts.length > 0 ? 1 : 0;
}
// The unmodified agent goes on with what was written here.
const back = await omp(agentPackage, ours.place, ["--continue", "-p", "back again"]);
console.log(`the unmodified agent goes on with the last session: exit ${back.code}, "${back.stdout.slice(0, 60)}"`);
for (const { server } of [theirs, ours]) server.close();
fs.rmSync(ROOT, { recursive: true, force: true });
fs.rmSync(path.resolve(replaced, "../../.."), { recursive: true, force: true });
console.log(`${ours.trace.length} steps, ${differences} with differences`);
process.exit(back.code === 0 && differences === 0 ? 0 : 1);
