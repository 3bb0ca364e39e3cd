const { SessionManager } = require("./lib/session-manager.js");
const functions = require("./lib/functions.js");
const lists = require("./lib/list.js");
const { loadEntriesFromFile } = require("./lib/load-entries.js");
const { getAgentDir, getBlobsDir, getSessionsDir } = require("./lib/places.js");
const { FileSessionStorage } = require("./lib/storage/file-storage.js");
const { MemorySessionStorage } = require("./lib/storage/memory-storage.js");

module.exports = {
	CURRENT_SESSION_VERSION: functions.CURRENT_SESSION_VERSION,
	FileSessionStorage,
	MemorySessionStorage,
	SessionManager,
	buildSessionContext: functions.buildSessionContext,
	findMostRecentSession: lists.findMostRecentSession,
	getAgentDir,
	getBlobsDir,
	getLatestCompactionEntry: functions.getLatestCompactionEntry,
	getRecentSessions: lists.getRecentSessions,
	getSessionsDir,
	loadEntriesFromFile,
	migrateSessionEntries: functions.migrateSessionEntries,
	parseSessionEntries: functions.parseSessionEntries,
	resolveResumableSession: lists.resolveResumableSession,
};
