/**
 * Publishes a version: packs, checks, and hands the tarballs to npm, the platforms' packages before the
 * main one that needs them. What is published already is passed over, so a release that broke off can
 * be started again. `npm run release -- --tag v1.2.3`; with `--dry-run` it publishes nothing, and the
 * addons of other platforms may be missing.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { npm } from "./npm.mjs";
import { packAll } from "./pack.mjs";
import { ROOT } from "./platform.mjs";
import { MANIFEST } from "./targets.mjs";

const { version } = MANIFEST;

function isPublished(name) {
	return npm(["view", `${name}@${version}`, "version"], { encoding: "utf8" }).stdout.trim() === version;
}

function publish({ name, file }, isDryRun) {
	if (!isDryRun && isPublished(name)) {
		console.log(`${name} ${version} is published already`);
		return;
	}
	const how = isDryRun ? ["--dry-run"] : ["--provenance"];
	const { status } = npm(["publish", file, "--access", "public", "--ignore-scripts", ...how], { stdio: "inherit" });
	if (status !== 0) throw new Error(`${name} could not be published, see above`);
}

/** A tag releases what the tree says it is, and what the change log tells of. */
function checkVersion(tag) {
	if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, the version in package.json ${version}`);
	const changes = readFileSync(path.join(ROOT, "CHANGELOG.md"), "utf8");
	if (!changes.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md has no section for ${version}`);
}

try {
	const { values } = parseArgs({
		options: { tag: { type: "string" }, "dry-run": { type: "boolean", default: false } },
	});
	const isDryRun = values["dry-run"];
	if (!isDryRun) checkVersion(values.tag);
	for (const packed of packAll(path.join(ROOT, "dist"), { all: !isDryRun })) publish(packed, isDryRun);
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
}
