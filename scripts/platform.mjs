/** Where things are on this machine: the tree, and Bun. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Whether a module is the program that was started, also through a symbolic link. */
export function isProgram(url) {
	return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}

/** Path of the Bun that npm installed, or of one on the PATH. */
export function bunBinary() {
	const require = createRequire(path.join(ROOT, "package.json"));
	const name = process.platform === "win32" ? "bun.exe" : "bun";
	for (const variant of ["", "-baseline", "-musl", "-musl-baseline"]) {
		const architecture = process.arch === "arm64" ? "aarch64" : "x64";
		try {
			const manifest = require.resolve(`@oven/bun-${process.platform}-${architecture}${variant}/package.json`);
			const binary = path.join(path.dirname(manifest), "bin", name);
			if (existsSync(binary)) return binary;
		} catch {
			// This variant is not installed here.
		}
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
