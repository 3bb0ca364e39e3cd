/** The errors that methods and functions throw or reject with. */

/**
 * Codes of this package's errors. Failures of the system keep its own: `ENOENT`, `ENOSPC`, `EACCES` …, and a text
 * that is longer than strings of the engine can be has Node's code for that.
 *
 * - `ERR_ENTRY_NOT_FOUND`: no entry has the id; nothing changed
 * - `ERR_SESSION_CORRUPT`: the file is no session; it was left as it is (`line`, `offset` say where)
 * - `ERR_SESSION_CONFLICT`: a file is where none may be, or another one than before
 * - `ERR_SESSION_LOCKED`: another process kept its lock for 5 s; nothing is lost
 * - `ERR_AMBIGUOUS_SESSION`: the beginning of an id fits several sessions (`candidates`)
 * - `ERR_INVALID_ARGUMENT`: a value of the wrong type
 * - `ERR_ADDON_UNAVAILABLE`: thrown by the import of the package: this platform's addon is not there, or it
 *   is one of another version (`tried` says where it was looked for)
 */
export type SessionErrorCode =
	| "ERR_ENTRY_NOT_FOUND"
	| "ERR_SESSION_CORRUPT"
	| "ERR_SESSION_CONFLICT"
	| "ERR_SESSION_LOCKED"
	| "ERR_AMBIGUOUS_SESSION"
	| "ERR_INVALID_ARGUMENT"
	| "ERR_ADDON_UNAVAILABLE";

/**
 * The shape of the errors.
 *
 * ```ts
 * try {
 * 	await SessionManager.open(path);
 * } catch (error) {
 * 	if ((error as SessionError).code !== "ERR_SESSION_CORRUPT") throw error;
 * 	console.log(await SessionManager.repair(path, { dryRun: true })); // what could be kept
 * }
 * ```
 */
export interface SessionError extends Error {
	code: SessionErrorCode | (string & {});
	/** The file concerned. */
	path?: string;
	/** The system call that failed. */
	syscall?: string;
	/** The system's number of the failure, negative. */
	errno?: number;
	/** 1-based line of a corrupt file. */
	line?: number;
	/** Byte offset of that line. */
	offset?: number;
	/**
	 * From an append: the entry that it added but could not write; it is written later, do not append it
	 * again. With `ERR_ENTRY_NOT_FOUND`: the id that no entry has.
	 */
	entryId?: string;
	/** Sessions that an ambiguous argument fits. */
	candidates?: { id: string; path: string }[];
	/** Name of the argument of the wrong type. */
	argument?: string;
	/** Places where the addon was looked for, each with what was wrong. */
	tried?: string[];
}
