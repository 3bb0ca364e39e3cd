/** Files that are damaged: saying what is wrong with one, and making of it one that every agent can open. */

const path = require("node:path");
const args = require("./arguments.js");
const native = require("./binding.js");
const { getBlobsDir } = require("./places.js");
const { nextSessionId } = require("./snowflake.js");

/** What is wrong with a file. Changes nothing. */
async function verify(filePath) {
	args.requirePath("SessionManager.verify", "path", filePath);
	const file = path.resolve(filePath);
	return { path: file, ...JSON.parse(await native.verifySession(file, getBlobsDir())) };
}

/** Keeps of a file what can be read, and the original beside it. */
async function repair(filePath, options) {
	args.requirePath("SessionManager.repair", "path", filePath);
	const dryRun = args.optionalBoolean("SessionManager.repair", "dryRun", options?.dryRun) ?? false;
	const file = path.resolve(filePath);
	const now = Date.now();
	const result = await native.repairSession(file, nextSessionId(now), process.cwd(), now, dryRun);
	return { path: file, dryRun, ...JSON.parse(result) };
}

module.exports = { repair, verify };
