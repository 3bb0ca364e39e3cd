import omp from "./index.js";

export const {
	CURRENT_SESSION_VERSION,
	FileSessionStorage,
	MemorySessionStorage,
	SessionManager,
	buildSessionContext,
	findMostRecentSession,
	getAgentDir,
	getBlobsDir,
	getLatestCompactionEntry,
	getRecentSessions,
	getSessionsDir,
	loadEntriesFromFile,
	migrateSessionEntries,
	parseSessionEntries,
	resolveResumableSession,
} = omp;
