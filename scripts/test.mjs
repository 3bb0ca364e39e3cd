/**
 * The whole test suite: Rust, JavaScript on Node and on Bun, the cases on both, the types. Prints
 * every runner's own output, then a table and `N passed, N failed`. With `--built` it takes the addon
 * that is there, and leaves out Rust. `npm test [-- --built]`
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { cargoEnvironment } from "./cargo.mjs";
import { bunBinary, ROOT } from "./platform.mjs";
import { setup } from "./setup.mjs";

/** Runs a command, shows its output and returns it with the exit code. */
function run(command, args, env = {}) {
	return new Promise((resolve) => {
		const child = spawn(command, args, {
			cwd: ROOT,
			env: { ...process.env, ...env },
			stdio: ["ignore", "pipe", "pipe"],
		});
		let output = "";
		const take = (stream) => (chunk) => {
			output += chunk;
			stream.write(chunk);
		};
		child.stdout.on("data", take(process.stdout));
		child.stderr.on("data", take(process.stderr));
		child.on("error", (error) => resolve({ code: 1, output: `${output}\n${error.message}` }));
		child.on("close", (code) => resolve({ code: code ?? 1, output }));
	});
}

function sum(output, pattern) {
	return [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0);
}

function testFiles() {
	return readdirSync(path.join(ROOT, "__test__"), { recursive: true })
		.map((name) => path.join("__test__", String(name)))
		.filter((name) => name.endsWith(".test.mjs"))
		.sort();
}

/** Each part: what runs, and how its runner's counts are read. */
const PARTS = [
	{
		name: "Rust",
		start: () => run("cargo", ["test", "--locked", "--no-default-features", "--features", "tap"], cargoEnvironment()),
		passed: (output) => sum(output, /test result: \w+\. (\d+) passed/g),
		failed: (output) => sum(output, /test result: \w+\. \d+ passed; (\d+) failed/g),
	},
	{
		name: "JavaScript on Node",
		start: () => run(process.execPath, ["--test", "--test-reporter=spec", ...testFiles()]),
		passed: (output) => sum(output, /^ℹ pass (\d+)$/gm),
		failed: (output) => sum(output, /^ℹ fail (\d+)$/gm),
	},
	{
		name: "JavaScript on Bun",
		start: () => run(bunBinary(), ["test", "--timeout", "60000", ...testFiles().map((name) => `./${name}`)]),
		passed: (output) => sum(output, /^\s*(\d+) pass$/gm),
		failed: (output) => sum(output, /^\s*(\d+) fail$/gm),
	},
	{ name: "Cases on Node", start: () => run(process.execPath, ["__test__/cases/run-all.mjs", process.execPath]) },
	{ name: "Cases on Bun", start: () => run(process.execPath, ["__test__/cases/run-all.mjs", bunBinary()]) },
	{
		name: "Types",
		start: () => run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "__test__/types/tsconfig.json"]),
		// The compiler counts only errors; a clean run is one passed check of all files.
		passed: (_output, code) => (code === 0 ? 1 : 0),
		failed: (output, code) => (code === 0 ? 0 : Math.max(1, [...output.matchAll(/error TS\d+/g)].length)),
	},
];

function plainCounts(output) {
	const match = /(\d+) passed, (\d+) failed/.exec(output);
	return match ? [Number(match[1]), Number(match[2])] : [0, 0];
}

async function main() {
	const built = process.argv.includes("--built");
	setup({ addon: !built });
	const rows = [];
	for (const part of built ? PARTS.filter(({ name }) => name !== "Rust") : PARTS) {
		console.log(`\n── ${part.name}`);
		const { code, output } = await part.start();
		let [passed, failed] = plainCounts(output);
		if (part.passed) [passed, failed] = [part.passed(output, code), part.failed(output, code)];
		// A runner that fails without counting a failure, or that ran nothing, has failed.
		if (failed === 0 && (code !== 0 || passed === 0)) failed = 1;
		rows.push({ part: part.name, passed, failed });
	}
	console.log("");
	console.table(rows);
	const passed = rows.reduce((total, row) => total + row.passed, 0);
	const failed = rows.reduce((total, row) => total + row.failed, 0);
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error) => {
	console.error(error.message);
	console.log("0 passed, 1 failed");
	process.exitCode = 1;
});
