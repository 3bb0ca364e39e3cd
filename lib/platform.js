/** The name of the platform that this process runs on, as in the names of addons and their packages. */

const fs = require("node:fs");

/** Whether a Linux program uses musl as its C library. */
function isMusl() {
	const { report } = process;
	if (!report?.getReport) return fs.existsSync("/etc/alpine-release");
	// Otherwise the report asks the name server for the name of every open connection.
	report.excludeNetwork = true;
	const { header, sharedObjects = [] } = report.getReport();
	if (header?.glibcVersionRuntime) return false;
	return sharedObjects.some((name) => name.includes("musl")) || fs.existsSync("/etc/alpine-release");
}

function platformName() {
	const base = `${process.platform}-${process.arch}`;
	if (process.platform === "linux") return `${base}-${isMusl() ? "musl" : "gnu"}`;
	return process.platform === "win32" ? `${base}-msvc` : base;
}

module.exports = { platformName };
