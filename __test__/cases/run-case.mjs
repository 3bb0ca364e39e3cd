/** Runs one case in this process and prints one line of JSON: `{ id, pass, fails }`. */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setUp } from "./files.mjs";
import { argument, DIR, durations, evaluate, meets, names } from "./language.mjs";

const caseFile = process.argv[2];
const test = JSON.parse(fs.readFileSync(caseFile, "utf8"));

const FILE_CALLS = {
	"fs.append": (name, text) => fs.appendFileSync(name, text),
	"fs.write": (name, text) => {
		fs.mkdirSync(path.dirname(name), { recursive: true });
		fs.writeFileSync(name, text);
	},
	"fs.rm": (name) => fs.rmSync(name, { recursive: true, force: true }),
	"fs.mkdir": (name) => fs.mkdirSync(name, { recursive: true }),
	"proc.chdir": (name) => process.chdir(name),
	"inject.renameOnce": (code) => inject(code, 1),
	"inject.renameAlways": (code) => inject(code, -1),
	"inject.off": () => fs.writeFileSync(process.env.FAULTS, ""),
};

/** Makes renames of session files fail, see `../faults/faults.c`. */
function inject(code, count) {
	const error = os.constants.errno[code];
	fs.writeFileSync(process.env.FAULTS, `rename ${error} 0 ${count}\nlink ${error} 0 ${count}\n`);
}

function call(step, api, round) {
	const { call: name, args = [] } = step;
	if (name === "eval") return evaluate(args[0], round);
	const values = args.map((arg) => argument(arg, round));
	if (FILE_CALLS[name]) return FILE_CALLS[name](...values);
	const [owner, method] = name.split(".");
	if (method === undefined) return api[owner](...values);
	if (owner === "FileSessionStorage") return new api.FileSessionStorage()[method](...values);
	return (owner in names ? names[owner] : api[owner])[method](...values);
}

function within(result, limit = 60_000) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error("step timed out")), limit);
	});
	return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

/** Runs a step; returns what it threw if the case does not expect that. */
async function run(step, api) {
	const started = performance.now();
	let failure;
	if (step.catch) names[step.catch] ??= null;
	try {
		let result;
		for (let round = 0; round < (step.times ?? 1); round++) result = call(step, api, step.times ? round : undefined);
		if (step.nowait) Promise.resolve(result).catch(() => {});
		else result = await within(Promise.resolve(result), step.timeoutMs);
		if (step.as) names[step.as] = result;
	} catch (error) {
		if (step.as) names[step.as] ??= undefined;
		if (step.catch) names[step.catch] = error;
		else failure = error;
	}
	for (const name of [step.as, step.catch]) if (name) durations[name] = performance.now() - started;
	return failure;
}

function shorten(value) {
	try {
		return (JSON.stringify(value) ?? String(value)).slice(0, 160);
	} catch {
		return String(value);
	}
}

function check(expected) {
	try {
		const value = evaluate(expected.that);
		return meets(value, expected)
			? []
			: [`${expected.that} = ${shorten(value)}, wanted ${shorten({ ...expected, that: undefined })}`];
	} catch (error) {
		return [`${expected.that} threw ${error?.message}`];
	}
}

async function main() {
	fs.mkdirSync(DIR, { recursive: true });
	process.on("unhandledRejection", () => {});
	setUp(test.setup, path.dirname(caseFile));
	const api = await import("../../index.mjs");
	const fails = [];
	for (const step of test.steps) {
		const failure = await run(step, api);
		if (failure) {
			fails.push(`step ${step.call} threw ${failure?.message ?? failure}`);
			break;
		}
	}
	if (fails.length === 0) fails.push(...test.expect.flatMap(check));
	console.log(JSON.stringify({ id: test.id, class: test.class, pass: fails.length === 0, fails }));
	process.exit(0);
}

await main();
