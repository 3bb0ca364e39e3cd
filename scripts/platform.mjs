/** Where things are on this machine: the tree, and Bun. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { platformName } = require("../lib/platform.js");

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Whether a module is the program that was started, also through a symbolic link. */
export function isProgram(url) {
	return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}

/** Name of the package that has the Bun of this machine. */
function bunPackage() {
	const system = process.platform === "win32" ? "windows" : process.platform;
	const architecture = process.arch === "arm64" ? "aarch64" : process.arch;
	return `@oven/bun-${system}-${architecture}${platformName().endsWith("-musl") ? "-musl" : ""}`;
}

/** Path of the Bun that npm installed, or of one on the PATH. */
export function bunBinary() {
	const name = process.platform === "win32" ? "bun.exe" : "bun";
	try {
		const binary = path.join(path.dirname(require.resolve(`${bunPackage()}/package.json`)), "bin", name);
		if (existsSync(binary)) return binary;
	} catch {
		// It is not installed here.
	}
	try {
		// Where the install script of the package "bun" has run, it moved the binary there.
		const binary = path.join(path.dirname(require.resolve("bun/package.json")), "bin", "bun.exe");
		if (existsSync(binary)) return binary;
	} catch {
		// No packages are installed here.
	}
	return name;
}
