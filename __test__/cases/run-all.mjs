/**
 * Runs every case, each in a process of its own, two at a time.
 * `node run-all.mjs <node or bun binary> [--filter C0] [--dir folder]`
 */
import { execFile, execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const [runtime = process.execPath, ...options] = process.argv.slice(2);
const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
const caseDir = path.resolve(option("--dir") ?? HERE);
const filter = option("--filter") ?? "";
const ROOT = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-cases-"));

function attempt(work) {
	try {
		return work();
	} catch {
		return undefined;
	}
}

/** The library that makes calls fail; undefined where it cannot be built. */
function faultLibrary() {
	if (process.platform !== "linux") return undefined;
	const library = path.join(ROOT, "faults.so");
	return attempt(() => {
		execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, path.join(HERE, "../faults/faults.c"), "-ldl"]);
		return library;
	});
}

const faults = faultLibrary();
const isRoot = process.getuid?.() === 0;

function mount(dir, kilobytes) {
	fs.mkdirSync(dir, { recursive: true });
	execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", dir], { stdio: "ignore" });
}

function canMount() {
	const dir = path.join(ROOT, "probe");
	return attempt(() => {
		mount(dir, 64);
		execFileSync("umount", [dir]);
		return true;
	});
}

const AVAILABLE = {
	posix: process.platform !== "win32",
	win32: process.platform === "win32",
	"non-root": !isRoot,
	"two-devices": attempt(() => fs.statSync("/dev/shm").dev !== fs.statSync(ROOT).dev),
	big: attempt(() => {
		const { bavail, bsize } = fs.statfsSync(ROOT);
		return bavail * bsize > 4e9 && os.totalmem() > 6e9;
	}),
	smallfs: process.platform === "linux" && isRoot && canMount(),
	inject: faults !== undefined,
};

/** The other file system of a case; its name is this run's own, as several may run at once. */
function sharedMemory(test) {
	return AVAILABLE["two-devices"] ? path.join("/dev/shm", `${path.basename(ROOT)}-${test.id}`) : undefined;
}

function environment(test, dir) {
	const env = {
		...process.env,
		CASE_DIR: dir,
		HOME: path.join(dir, "home"),
		PI_CODING_AGENT_DIR: path.join(dir, "agent"),
		CASE_SHM: sharedMemory(test) ?? path.join(dir, "shm"),
	};
	for (const name of Object.keys(env)) if (name.startsWith("XDG_")) delete env[name];
	for (const name of ["KITTY_WINDOW_ID", "TMUX_PANE", "TERM_SESSION_ID", "WT_SESSION"]) delete env[name];
	if (test.needs?.includes("inject"))
		Object.assign(env, { LD_PRELOAD: faults, FAULTS: path.join(ROOT, `${test.id}.faults`) });
	return env;
}

function execute(test, file, dir) {
	const command = [runtime, path.join(HERE, "run-case.mjs"), file];
	const limit = test.setup.ulimit?.nofile;
	// The limit on open files can only be set before the runtime starts.
	if (limit) command.unshift("/bin/sh", "-c", `ulimit -n ${Number(limit)} && exec "$0" "$@"`);
	return new Promise((resolve) => {
		execFile(
			command[0],
			command.slice(1),
			{ env: environment(test, dir), timeout: 180_000, maxBuffer: 1 << 24 },
			(error, stdout, stderr) => {
				const result = attempt(() => JSON.parse(stdout.trim().split("\n").at(-1)));
				resolve(
					result ?? {
						id: test.id,
						pass: false,
						fails: [`the process ended: ${error?.signal ?? error?.code} ${stderr.slice(-500)}`],
					},
				);
			},
		);
	});
}

async function runCase(file) {
	const test = JSON.parse(fs.readFileSync(file, "utf8"));
	const missing = (test.needs ?? []).filter((need) => !AVAILABLE[need]);
	if (missing.length > 0) return { id: test.id, skipped: missing };
	const dir = path.join(ROOT, test.id);
	const small = path.join(dir, "small");
	const mounted = test.needs?.includes("smallfs") || test.setup.small ? AVAILABLE.smallfs : false;
	if (test.setup.small && !mounted) return { id: test.id, skipped: ["smallfs"] };
	fs.mkdirSync(path.join(dir, "home"), { recursive: true });
	if (mounted) mount(small, test.setup.small.sizeKB);
	try {
		return await execute(test, file, dir);
	} finally {
		// Detached at once, even if a process that was stopped still holds files in it.
		if (mounted) execFileSync("umount", ["-l", small]);
		if (sharedMemory(test)) fs.rmSync(sharedMemory(test), { recursive: true, force: true });
		fs.rmSync(dir, { recursive: true, force: true });
	}
}

const files = fs
	.readdirSync(caseDir)
	.filter((name) => /^C\d+\.json$/.test(name) && name.startsWith(filter))
	.map((name) => path.join(caseDir, name));
const results = [];
async function worker() {
	for (let file = files.shift(); file !== undefined; file = files.shift()) results.push(await runCase(file));
}
await Promise.all([worker(), worker()]);
fs.rmSync(ROOT, { recursive: true, force: true });

results.sort((a, b) => (a.id < b.id ? -1 : 1));
const skipped = results.filter((result) => result.skipped);
const failed = results.filter((result) => !result.skipped && !result.pass);
for (const { id, skipped: needs } of skipped) console.log(`skipped ${id}: this machine has no ${needs.join(", ")}`);
for (const { id, class: kind, fails } of failed) console.log(`FAILED ${id} (${kind})\n  ${fails.join("\n  ")}`);
const name = path.basename(runtime).replace(/\.exe$/, "");
const passed = results.length - skipped.length - failed.length;
console.log(`cases on ${name}: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
