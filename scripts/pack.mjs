/**
 * Packs the main package and the packages of the platforms whose addons are here, as they are published,
 * into dist/. `npm run pack`
 *
 * The committed manifest names no platform package: npm could not install in a clone before they are
 * on the registry. It gets them, at exactly its own version, when it is packed.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { npm } from "./npm.mjs";
import { isProgram, ROOT } from "./platform.mjs";
import { MANIFEST, TARGETS } from "./targets.mjs";

/** Most that an addon, and a tarball, may take: bytes. */
export const LIMIT = 2 << 20;

/** What only the source tree needs. `private` keeps npm from publishing the tree as it is. */
const OF_THE_TREE = ["private", "scripts", "devDependencies", "napi"];

/** What a tarball takes along that is packed in the tree; here the addon has a package of its own. */
const OF_THE_ADDON = ["*.node", "THIRD-PARTY-LICENSES.md"];

/** Provenance asks for the repository that the release comes from: CI says which. */
function repository() {
	const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
	return server && name ? { repository: { type: "git", url: `git+${server}/${name}.git` } } : {};
}

function mainManifest() {
	const manifest = { ...MANIFEST, ...repository() };
	for (const key of OF_THE_TREE) delete manifest[key];
	manifest.files = MANIFEST.files.filter((name) => !OF_THE_ADDON.includes(name));
	manifest.optionalDependencies = Object.fromEntries(TARGETS.map(({ packageName }) => [packageName, MANIFEST.version]));
	return manifest;
}

function platformManifest({ platform }) {
	return { ...JSON.parse(readFileSync(path.join(ROOT, "npm", platform, "package.json"), "utf8")), ...repository() };
}

/** What is packed is published for good: nothing may be in it that a user has no use for. */
function checked(packed) {
	const strays = packed.files.filter((file) => /(^|\/)\.|\.(rs|mjs|tgz|tmp|jsonl)$/.test(file) && file !== "index.mjs");
	if (strays.length > 0) throw new Error(`${packed.name} holds ${strays.join(", ")}`);
	if (packed.size > LIMIT) throw new Error(`${packed.name} takes ${packed.size} bytes, more than ${LIMIT}`);
	return packed;
}

/** Packs what `fill` puts into an empty folder; returns `{ file, files, size }`. */
function packFolder(out, manifest, fill) {
	const folder = mkdtempSync(path.join(os.tmpdir(), "omp-session-pack-"));
	try {
		writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, "\t")}\n`);
		fill(folder);
		const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", out];
		const { status, stdout, stderr } = npm(args, { cwd: folder, encoding: "utf8" });
		if (status !== 0) throw new Error(`npm pack of ${manifest.name} failed: ${stderr}`);
		const parsed = JSON.parse(stdout);
		const [{ filename, files, size }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
		return checked({
			name: manifest.name,
			file: path.join(out, filename),
			files: files.map((file) => file.path).sort(),
			size,
		});
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function copyInto(folder, names) {
	for (const name of names) cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
}

export function packMain(out) {
	const manifest = mainManifest();
	return packFolder(out, manifest, (folder) => copyInto(folder, [...manifest.files, "README.md", "LICENSE"]));
}

/** @param {{ platform: string, addon: string }} target one of `TARGETS` */
export function packPlatform(out, target) {
	return packFolder(out, platformManifest(target), (folder) => {
		copyInto(folder, [target.addon, "THIRD-PARTY-LICENSES.md", "LICENSE"]);
		copyFileSync(path.join(ROOT, "npm", target.platform, "README.md"), path.join(folder, "README.md"));
	});
}

function hasAddon(target) {
	return existsSync(path.join(ROOT, target.addon));
}

/**
 * Packs into a folder what is here, the platforms first.
 * @param {{ all?: boolean }} [options] `all`: the addon of every platform has to be here
 */
export function packAll(out, { all = false } = {}) {
	const missing = TARGETS.filter((target) => !hasAddon(target)).map(({ addon }) => addon);
	if (all && missing.length > 0) throw new Error(`these addons are missing beside package.json: ${missing.join(", ")}`);
	rmSync(out, { recursive: true, force: true });
	mkdirSync(out, { recursive: true });
	return [...TARGETS.filter(hasAddon).map((target) => packPlatform(out, target)), packMain(out)];
}

if (isProgram(import.meta.url)) {
	for (const { file, size } of packAll(path.join(ROOT, "dist"))) {
		console.log(`${path.relative(ROOT, file)} ${size.toLocaleString("en")} bytes`);
	}
}
