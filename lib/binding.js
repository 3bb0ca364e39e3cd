/**
 * Finds and loads the addon of this platform. Every candidate is a literal `require`, so that
 * bundlers and `bun build --compile` see it.
 */

const { version } = require("../package.json");

function isMusl() {
	const report = process.report?.getReport?.();
	const libraries = report?.sharedObjects ?? [];
	return !report?.header?.glibcVersionRuntime && libraries.some((name) => name.includes("musl"));
}

/** What to try, in order: the addon built in the source tree, then the package of the platform. */
const CANDIDATES = {
	"linux-x64-gnu": [() => require("../omp-session.linux-x64-gnu.node"), () => require("@omp-session/linux-x64-gnu")],
	"linux-x64-musl": [() => require("../omp-session.linux-x64-musl.node"), () => require("@omp-session/linux-x64-musl")],
	"linux-arm64-gnu": [
		() => require("../omp-session.linux-arm64-gnu.node"),
		() => require("@omp-session/linux-arm64-gnu"),
	],
	"linux-arm64-musl": [
		() => require("../omp-session.linux-arm64-musl.node"),
		() => require("@omp-session/linux-arm64-musl"),
	],
	"darwin-x64": [() => require("../omp-session.darwin-x64.node"), () => require("@omp-session/darwin-x64")],
	"darwin-arm64": [() => require("../omp-session.darwin-arm64.node"), () => require("@omp-session/darwin-arm64")],
	"win32-x64-msvc": [() => require("../omp-session.win32-x64-msvc.node"), () => require("@omp-session/win32-x64-msvc")],
	"win32-arm64-msvc": [
		() => require("../omp-session.win32-arm64-msvc.node"),
		() => require("@omp-session/win32-arm64-msvc"),
	],
};

function platformName() {
	const base = `${process.platform}-${process.arch}`;
	if (process.platform === "linux") return `${base}-${isMusl() ? "musl" : "gnu"}`;
	return process.platform === "win32" ? `${base}-msvc` : base;
}

function load() {
	const name = platformName();
	const candidates = CANDIDATES[name];
	if (!candidates) {
		throw Object.assign(
			new Error(`omp-session has no addon for ${name}. Supported: ${Object.keys(CANDIDATES).join(", ")}`),
			{ code: "ERR_INVALID_ARGUMENT" },
		);
	}
	const failures = [];
	for (const candidate of candidates) {
		try {
			const addon = candidate();
			if (addon.NATIVE_VERSION === version) return addon;
			failures.push(`an addon of version ${addon.NATIVE_VERSION} was found where ${version} is needed`);
		} catch (error) {
			failures.push(String(error?.message ?? error).split("\n")[0]);
		}
	}
	throw Object.assign(
		new Error(
			`omp-session could not load its addon for ${name}: ${failures.join("; ")}. ` +
				"In a source tree run `npm run build`; otherwise install the package again with optional dependencies.",
		),
		{ code: "ERR_INVALID_ARGUMENT", causes: failures },
	);
}

module.exports = load();
