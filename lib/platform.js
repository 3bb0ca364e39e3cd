/** The name of the platform that this process runs on, as in the names of addons and their packages. */

const fs = require("node:fs");

/** What the runtime says of its system; undefined where it has no reports. */
function systemReport() {
	const { report } = process;
	if (!report?.getReport) return undefined;
	// Otherwise the report asks the name server for the name of every open connection.
	const before = report.excludeNetwork;
	report.excludeNetwork = true;
	try {
		return report.getReport();
	} finally {
		report.excludeNetwork = before;
	}
}

/** Whether a Linux program uses musl as its C library. */
function isMusl() {
	const report = systemReport();
	if (report?.header?.glibcVersionRuntime) return false;
	return report?.sharedObjects?.some((name) => name.includes("musl")) || fs.existsSync("/etc/alpine-release");
}

function platformName() {
	const base = `${process.platform}-${process.arch}`;
	if (process.platform === "linux") return `${base}-${isMusl() ? "musl" : "gnu"}`;
	return process.platform === "win32" ? `${base}-msvc` : base;
}

module.exports = { platformName };
