/**
 * Packs this package and that of the platform, checks the tarballs, installs them into an empty folder
 * and uses them in every way that users have. Prints what was checked, then `N passed, N failed`.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { npm } from "../../scripts/npm.mjs";
import { LIMIT, packMain, packPlatform } from "../../scripts/pack.mjs";
import { bunBinary, ROOT } from "../../scripts/platform.mjs";
import { findTarget, MANIFEST, TARGETS } from "../../scripts/targets.mjs";

const CONSUMER = path.join(import.meta.dirname, "consumer");
const target = findTarget();
const bun = bunBinary();
const dir = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "omp-session-package-"));
const folder = path.join(dir, "user");

function succeeded({ status, stdout, stderr, error }, what) {
	if (error) throw error;
	assert.equal(status, 0, `${what}\n${stdout}${stderr}`);
	return stdout;
}

function run(command, args, { cwd = folder } = {}) {
	const ended = spawnSync(command, args, { cwd, encoding: "utf8" });
	return succeeded(ended, `${path.basename(command)} ${args.join(" ")}`);
}

function works(command, args, options) {
	assert.match(run(command, args, options), /all is there/);
}

function installed(...names) {
	return path.join(folder, "node_modules", ...names);
}

function manifestOf(name) {
	return JSON.parse(fs.readFileSync(installed(name, "package.json"), "utf8"));
}

/** Compiles the typed program under settings of the user's and returns where its JavaScript is. */
function compiles(name, settings) {
	const tsc = path.join(ROOT, "node_modules", "typescript", "bin", "tsc");
	const outDir = path.join(folder, "compiled", name);
	const options = { strict: true, target: "es2022", lib: ["es2023"], types: [], outDir, rootDir: folder, ...settings };
	const project = path.join(folder, `tsconfig.${name}.json`);
	fs.writeFileSync(project, JSON.stringify({ compilerOptions: options, files: ["typed.mts", "typed.cts"] }));
	run(process.execPath, [tsc, "-p", project]);
	return outDir;
}

/** Runs a bundle in a folder without any packages. */
function standsAlone(command, args, made) {
	const empty = fs.mkdtempSync(path.join(dir, "empty-"));
	for (const file of fs.readdirSync(made)) fs.copyFileSync(path.join(made, file), path.join(empty, file));
	works(command(empty), args, { cwd: empty });
}

async function typesAreRight(tarball) {
	const data = createPackageFromTarballData(new Uint8Array(fs.readFileSync(tarball)));
	const { types, problems } = await checkPackage(data);
	assert.ok(types, "the package has types");
	assert.deepEqual(problems, []);
}

async function isPublishable(pkgDir) {
	const { messages } = await publint({ pkgDir, strict: true, pack: false });
	const pkg = JSON.parse(fs.readFileSync(path.join(pkgDir, "package.json"), "utf8"));
	assert.deepEqual(
		messages.map((message) => formatMessage(message, pkg)),
		[],
	);
}

function failsToLoad(program, expected) {
	const { status, stderr } = spawnSync(process.execPath, ["--eval", program], { cwd: folder, encoding: "utf8" });
	assert.equal(status, 1);
	for (const part of expected) assert.ok(stderr.includes(part), `${stderr}\nshould say: ${part}`);
}

/** Does something to an installed file and puts it back. */
function changed(file, change, check) {
	const before = fs.readFileSync(file);
	try {
		change(before);
		check();
	} finally {
		fs.writeFileSync(file, before);
	}
}

const packed = {};

const CHECKS = {
	"the main package holds the code, the types and the documents that users need": () => {
		packed.main = packMain(dir);
		const tops = [...new Set(packed.main.files.map((file) => file.split("/")[0]))];
		assert.deepEqual(tops.sort(), [
			"CHANGELOG.md",
			"LICENSE",
			"README.md",
			"docs",
			"index.d.mts",
			"index.d.ts",
			"index.js",
			"index.mjs",
			"lib",
			"package.json",
			"types",
		]);
		assert.deepEqual(
			packed.main.files.filter((file) => /\.(node|rs|test\.\w+)$/.test(file)),
			[],
		);
	},
	"the platform's package holds the addon and the licences of what is in it": () => {
		packed.platform = packPlatform(dir, target);
		assert.deepEqual(
			packed.platform.files,
			["LICENSE", "README.md", "THIRD-PARTY-LICENSES.md", target.addon, "package.json"].sort(),
		);
	},
	"tarballs and addon are small": () => {
		const sizes = {
			[target.addon]: fs.statSync(path.join(ROOT, target.addon)).size,
			[path.basename(packed.main.file)]: packed.main.size,
			[path.basename(packed.platform.file)]: packed.platform.size,
		};
		for (const [name, size] of Object.entries(sizes)) {
			console.log(`  ${name}: ${size.toLocaleString("en")} bytes of at most ${LIMIT.toLocaleString("en")}`);
			assert.ok(size <= LIMIT, `${name} is too large`);
		}
	},
	"both install into an empty folder with scripts off": () => {
		fs.mkdirSync(folder);
		fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
		// Offline: what is installed is what was packed.
		const args = ["install", "--offline", "--ignore-scripts", packed.main.file, packed.platform.file];
		succeeded(npm(args, { cwd: folder, encoding: "utf8" }), "npm install");
		fs.cpSync(CONSUMER, folder, { recursive: true });
		for (const kind of ["mts", "cts"]) {
			fs.copyFileSync(path.join(CONSUMER, "typed.ts"), path.join(folder, `typed.${kind}`));
		}
		assert.ok(fs.existsSync(installed(target.packageName, target.addon)));
	},
	"the manifest names every platform's package at exactly its own version, and runs nothing": () => {
		const manifest = manifestOf(MANIFEST.name);
		const wanted = TARGETS.map(({ packageName }) => [packageName, MANIFEST.version]);
		assert.deepEqual(Object.entries(manifest.optionalDependencies), wanted);
		for (const key of ["scripts", "private", "dependencies", "devDependencies"]) assert.equal(manifest[key], undefined);
		assert.equal(manifestOf(target.packageName).version, MANIFEST.version);
		assert.equal(manifestOf(target.packageName).scripts, undefined);
	},
	"publint has nothing to say on the main package": () => isPublishable(installed(MANIFEST.name)),
	"publint has nothing to say on the platform's package": () => isPublishable(installed(target.packageName)),
	"the types are right for every way to resolve them": () => typesAreRight(packed.main.file),
	"CommonJS on Node": () => works(process.execPath, ["use.cjs"]),
	"ES modules on Node": () => works(process.execPath, ["use.mjs"]),
	"a worker thread on Node": () => works(process.execPath, ["use-in-worker.mjs"]),
	"CommonJS on Bun": () => works(bun, ["use.cjs"]),
	"ES modules on Bun": () => works(bun, ["use.mjs"]),
	"a worker thread on Bun": () => works(bun, ["use-in-worker.mjs"]),
	"TypeScript, strict, resolution node16": () => {
		const made = compiles("node16", { module: "node16", moduleResolution: "node16" });
		for (const name of ["typed.mjs", "typed.cjs"]) run(process.execPath, [path.join(made, name)]);
	},
	"TypeScript, strict, resolution bundler": () =>
		compiles("bundler", { module: "esnext", moduleResolution: "bundler", noEmit: true }),
	"bun build --compile makes a program that needs no packages": () => {
		const made = path.join(dir, "compiled");
		const name = process.platform === "win32" ? "program.exe" : "program";
		run(bun, ["build", "--compile", "use.mjs", "--outfile", path.join(made, name)]);
		standsAlone((place) => path.join(place, name), [], made);
	},
	"bun build makes a bundle that Node runs without packages": () => {
		const made = path.join(dir, "bundled");
		run(bun, ["build", "use.mjs", "--target", "node", "--outdir", made]);
		standsAlone(() => process.execPath, ["use.js"], made);
	},
	"what npm pack makes of the source tree works alone": () => {
		const alone = fs.mkdtempSync(path.join(dir, "alone-"));
		fs.writeFileSync(path.join(alone, "package.json"), JSON.stringify({ name: "alone", private: true }));
		for (const name of ["use.cjs", "scenario.cjs"]) fs.copyFileSync(path.join(CONSUMER, name), path.join(alone, name));
		const tree = ["pack", "--ignore-scripts", "--silent", "--pack-destination", alone];
		const name = succeeded(npm(tree, { encoding: "utf8" }), "npm pack").trim();
		const args = ["install", "--offline", "--ignore-scripts", path.join(alone, name)];
		succeeded(npm(args, { cwd: alone, encoding: "utf8" }), "npm install");
		works(process.execPath, ["use.cjs"], { cwd: alone });
	},
	"an addon of another version is refused": () =>
		changed(
			installed(MANIFEST.name, "package.json"),
			(text) =>
				fs.writeFileSync(installed(MANIFEST.name, "package.json"), String(text).replace(MANIFEST.version, "9.9.9")),
			() => failsToLoad('require("omp-session")', ["ERR_ADDON_UNAVAILABLE", MANIFEST.version, "needed is 9.9.9"]),
		),
	"without the platform's package the error names every place and what to do": () =>
		changed(
			installed(target.packageName, target.addon),
			() => fs.rmSync(installed(target.packageName, target.addon)),
			() =>
				failsToLoad('require("omp-session")', [
					"ERR_ADDON_UNAVAILABLE",
					installed(MANIFEST.name, target.addon),
					`${target.packageName}, looked for from ${installed(MANIFEST.name, "lib")}`,
					"--include=optional",
				]),
		),
	"a platform without an addon is named, with those that have one": () =>
		failsToLoad('Object.defineProperty(process, "arch", { value: "mips" }); require("omp-session")', [
			"has no addon for",
			"mips",
			...TARGETS.map(({ platform }) => platform),
		]),
};

let failures = 0;
try {
	for (const [name, check] of Object.entries(CHECKS)) {
		try {
			await check();
			console.log(`✔ ${name}`);
		} catch (error) {
			failures++;
			console.log(`✖ ${name}\n${error.stack}`);
		}
	}
} finally {
	fs.rmSync(dir, { recursive: true, force: true });
}
console.log(`${Object.keys(CHECKS).length - failures} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
