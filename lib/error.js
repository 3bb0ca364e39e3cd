/** The errors of this package: an `Error` with a stable `code`, and a path where a file is concerned. */

/** Codes of this package; system errors keep the system's own. */
const ERROR_CODES = Object.freeze([
	"ERR_ENTRY_NOT_FOUND",
	"ERR_SESSION_CORRUPT",
	"ERR_SESSION_CONFLICT",
	"ERR_SESSION_LOCKED",
	"ERR_AMBIGUOUS_SESSION",
	"ERR_INVALID_ARGUMENT",
	"ERR_ADDON_UNAVAILABLE",
]);

/**
 * @param {string} code
 * @param {string} message
 * @param {object} [properties] further own properties, such as `path`
 */
function sessionError(code, message, properties) {
	return Object.assign(new Error(message), { code }, properties);
}

/** The error for an argument of the wrong type. */
function argumentError(where, name, expected, got) {
	const error = new TypeError(`${where}: argument "${name}" must be ${expected}, got ${got}`);
	return Object.assign(error, { code: "ERR_INVALID_ARGUMENT", argument: name });
}

/** Node tells no path of what fails after a file was opened. */
function withPath(error, file) {
	if (typeof error?.code === "string") error.path ??= file;
	return error;
}

module.exports = { ERROR_CODES, argumentError, sessionError, withPath };
