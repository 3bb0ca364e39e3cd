/**
 * Fuzzes the core: builds the targets in `fuzz/` with coverage and runs each for a while, two at a
 * time. `npm run fuzz [-- --seconds 30] [-- --keep folder] [-- target …]`
 *
 * Inputs that reach something new are kept in `folder/<target>` with `--keep`, otherwise nowhere. An
 * input that fails is written to `fuzz/artifacts/`; `fuzz/target/…/<target> <input>` runs it alone.
 *
 * Coverage comes from flags that the stable compiler has; the fuzzer itself is C++ and needs its compiler.
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { cargoEnvironment } from "./cargo.mjs";
import { ROOT } from "./platform.mjs";

const FUZZ = path.join(ROOT, "fuzz");
const COVERAGE = [
	"-Cpasses=sancov-module",
	"-Cllvm-args=-sanitizer-coverage-level=4",
	"-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
	"-Cllvm-args=-sanitizer-coverage-pc-table",
	"-Cllvm-args=-sanitizer-coverage-trace-compares",
	"-Ccodegen-units=1",
	"--cfg fuzzing",
].join(" ");

const { values, positionals } = parseArgs({
	options: { seconds: { type: "string", default: "30" }, keep: { type: "string" } },
	allowPositionals: true,
});

function allTargets() {
	const sources = fs.readdirSync(path.join(FUZZ, "fuzz_targets"));
	return sources.filter((name) => name.endsWith(".rs")).map((name) => path.basename(name, ".rs"));
}

/** The platform that rustc builds for by default: with it named, build scripts get no coverage. */
function host(environment) {
	const { stdout } = spawnSync("rustc", ["-vV"], { encoding: "utf8", env: environment });
	return /^host: (.+)$/m.exec(stdout ?? "")?.[1];
}

function build() {
	const environment = { ...cargoEnvironment(), RUSTFLAGS: COVERAGE };
	const target = host(environment);
	const options = { cwd: FUZZ, env: environment, stdio: "inherit" };
	const { status, error } = spawnSync("cargo", ["build", "--release", "--locked", "--target", target], options);
	if (error) throw new Error(`cargo could not be started (${error.code}): install Rust first`);
	if (status !== 0) throw new Error("the targets could not be built, see above; they need a C++ compiler");
	return path.join(FUZZ, "target", target, "release");
}

function run(binaries, target, found) {
	const kept = path.join(found, target);
	const artifacts = path.join(FUZZ, "artifacts", target);
	for (const dir of [kept, artifacts]) fs.mkdirSync(dir, { recursive: true });
	const args = [
		`-max_total_time=${values.seconds}`,
		"-timeout=25",
		"-rss_limit_mb=4096",
		"-print_final_stats=1",
		`-artifact_prefix=${artifacts}${path.sep}`,
		kept,
		path.join(FUZZ, "corpus", target),
	];
	return new Promise((resolve) => {
		const child = spawn(path.join(binaries, target), args, { stdio: ["ignore", "ignore", "pipe"] });
		let log = "";
		child.stderr.on("data", (chunk) => {
			log += chunk;
		});
		child.on("error", (error) => resolve({ target, code: 1, log: error.message }));
		child.on("close", (code) => resolve({ target, code, log }));
	});
}

async function main() {
	const targets = positionals.length > 0 ? positionals : allTargets();
	const unknown = targets.filter((target) => !allTargets().includes(target));
	if (unknown.length > 0)
		throw new Error(`no such target: ${unknown.join(", ")}; there are ${allTargets().join(", ")}`);
	const binaries = build();
	const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-fuzz-"));
	const results = [];
	const waiting = [...targets];
	const lane = async () => {
		for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
			const result = await run(binaries, target, values.keep ?? scratch);
			const inputs = Number(/stat::number_of_executed_units: (\d+)/.exec(result.log)?.[1] ?? 0);
			if (result.code !== 0) console.log(result.log.slice(-4000));
			console.log(`${result.code === 0 ? "ok  " : "FAIL"} ${target}: ${inputs} inputs`);
			results.push({ ok: result.code === 0 && inputs > 0 });
		}
	};
	await Promise.all([lane(), lane()]);
	fs.rmSync(scratch, { recursive: true, force: true });
	const failed = results.filter(({ ok }) => !ok).length;
	console.log(`${results.length - failed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
