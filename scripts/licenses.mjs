/**
 * The licences of the crates that are part of the addons, with their texts, from what cargo knows.
 * `npm run licenses` writes THIRD-PARTY-LICENSES.md; with `-- --check` it only says whether that file
 * is current.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { cargoEnvironment } from "./cargo.mjs";
import { ROOT } from "./platform.mjs";
import { MANIFEST, TARGETS } from "./targets.mjs";

const FILE = path.join(ROOT, "THIRD-PARTY-LICENSES.md");

function metadata() {
	const platforms = TARGETS.flatMap(({ triple }) => ["--filter-platform", triple]);
	const args = ["metadata", "--locked", "--format-version", "1", ...platforms];
	const options = { cwd: ROOT, env: cargoEnvironment(), encoding: "utf8", maxBuffer: 1 << 27 };
	const { status, stdout, stderr } = spawnSync("cargo", args, options);
	if (status !== 0) throw new Error(`cargo metadata failed: ${stderr}`);
	return JSON.parse(stdout);
}

function isMacro(crate) {
	return crate.targets.some(({ kind }) => kind.includes("proc-macro"));
}

/** The crates whose code is in an addon: no macros, nothing that only builds or tests need. */
function linkedCrates({ packages, resolve }) {
	const crates = new Map(packages.map((crate) => [crate.id, crate]));
	const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
	const seen = new Set([resolve.root]);
	const open = [resolve.root];
	while (open.length > 0) {
		for (const { pkg, dep_kinds: kinds } of nodes.get(open.pop()).deps) {
			if (seen.has(pkg) || isMacro(crates.get(pkg)) || !kinds.some(({ kind }) => kind === null)) continue;
			seen.add(pkg);
			open.push(pkg);
		}
	}
	seen.delete(resolve.root);
	return [...seen]
		.map((id) => crates.get(id))
		.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The terms that are made use of: MIT where there is a choice, else all that the crate names. */
function chosenLicense({ license }) {
	return license.includes(" AND ") || !/\bMIT\b/.test(license) ? license : "MIT";
}

/** Text of the chosen licence; of a crate that comes without one, who holds the rights. */
function licenseText(crate) {
	const dir = path.dirname(crate.manifest_path);
	const names = readdirSync(dir).filter((name) => /^licen[cs]e/i.test(name));
	const name = names.find((each) => /mit/i.test(each)) ?? names.find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
	if (name === undefined) return `Copyright (c) ${crate.authors.join(", ")}`;
	return readFileSync(path.join(dir, name), "utf8")
		.replaceAll("\r\n", "\n")
		.replaceAll(/[ \t]+$/gm, "")
		.trim();
}

function compose() {
	const crates = linkedCrates(metadata());
	const texts = groupBy(crates, licenseText);
	const lines = [
		"# Licences of the libraries in the addons",
		"",
		`The addons of ${MANIFEST.name} contain code of these crates, and of Rust's standard library (MIT). Made`,
		"by `npm run licenses`.",
		"",
		"| crate | version | licence |",
		"| --- | --- | --- |",
		...crates.map((crate) => `| ${crate.name} | ${crate.version} | ${chosenLicense(crate)} |`),
	];
	for (const [text, users] of texts) {
		lines.push("", `## ${users.map(({ name, version }) => `${name} ${version}`).join(", ")}`, "");
		lines.push("```text", text, "```");
	}
	return `${lines.join("\n")}\n`;
}

/** Values by what `keyOf` gives for them, in order of their first. */
function groupBy(values, keyOf) {
	const groups = new Map();
	for (const value of values) {
		const key = keyOf(value);
		groups.set(key, [...(groups.get(key) ?? []), value]);
	}
	return groups;
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const current = compose();
if (!values.check) {
	writeFileSync(FILE, current);
} else if (readFileSync(FILE, "utf8") !== current) {
	console.error("THIRD-PARTY-LICENSES.md is not current: run npm run licenses");
	process.exitCode = 1;
}
