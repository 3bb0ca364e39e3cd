/**
 * Makes a fresh clone ready: npm packages and the release addon. Safe to repeat; does only what is
 * missing. `npm run setup`, and the first step of `npm test` and `npm run demo`.
 */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { build } from "./build.mjs";
import { npm } from "./npm.mjs";
import { isProgram, ROOT } from "./platform.mjs";

function packagesAreCurrent() {
	const installed = path.join(ROOT, "node_modules", ".package-lock.json");
	const wanted = path.join(ROOT, "package-lock.json");
	return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

function installPackages() {
	if (packagesAreCurrent()) return;
	const { status } = npm(["ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { stdio: "inherit" });
	if (status !== 0) throw new Error("npm ci failed, see above");
}

/** @param {{ packages?: boolean, addon?: boolean }} [what] is needed: the demo has no use for npm packages */
export function setup({ packages = true, addon = true } = {}) {
	if (packages) installPackages();
	if (addon) build();
}

if (isProgram(import.meta.url)) {
	try {
		setup();
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
