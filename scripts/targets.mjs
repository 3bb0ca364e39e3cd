/**
 * The platforms that addons are built for, from the list in package.json: what Rust calls each, and
 * what npm's manifests say of it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ROOT } from "./platform.mjs";

const { platformName } = createRequire(import.meta.url)("../lib/platform.js");

/** The manifest of the main package as it is committed. */
export const MANIFEST = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));

const SYSTEMS = { linux: "linux", darwin: "darwin", windows: "win32" };
const PROCESSORS = { x86_64: "x64", aarch64: "arm64" };
const C_LIBRARIES = { gnu: "glibc", musl: "musl" };

function targetOf(triple) {
	const [processor, , system, abi] = triple.split("-");
	const os = SYSTEMS[system];
	const cpu = PROCESSORS[processor];
	const platform = [os, cpu, abi].filter((part) => part !== undefined).join("-");
	return {
		triple,
		platform,
		os,
		cpu,
		libc: os === "linux" ? C_LIBRARIES[abi] : undefined,
		packageName: `@${MANIFEST.name}/${platform}`,
		addon: `${MANIFEST.napi.binaryName}.${platform}.node`,
	};
}

/** All platforms. */
export const TARGETS = MANIFEST.napi.targets.map(targetOf);

/** The platform with this Rust triple, or the one that this runs on. */
export function findTarget(triple) {
	const platform = triple === undefined ? platformName() : undefined;
	const found = TARGETS.find((target) => target.triple === triple || target.platform === platform);
	if (!found) throw new Error(`no addon is made for ${triple ?? platform}; package.json lists those that are`);
	return found;
}
