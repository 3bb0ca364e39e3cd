/** Checks of arguments. An optional argument given as `null` counts as not given. */

const { argumentError } = require("./error.js");

/** What a value is, in a word or two. */
function describe(value) {
	if (value === null) return "null";
	if (Array.isArray(value)) return "an array";
	if (typeof value === "object") return "an object";
	return typeof value;
}

function requireType(type, expected) {
	return (where, name, value) => {
		if (typeof value !== type) throw argumentError(where, name, expected, describe(value));
		return value;
	};
}

const requireString = requireType("string", "a string");
const requireBoolean = requireType("boolean", "a boolean");
const requireNumber = requireType("number", "a number");

function optional(check) {
	return (where, name, value) => (value === undefined || value === null ? undefined : check(where, name, value));
}

const optionalString = optional(requireString);
const optionalBoolean = optional(requireBoolean);
const optionalNumber = optional(requireNumber);

/** A path without NUL, which no file system takes. */
function requirePath(where, name, value) {
	requireString(where, name, value);
	if (value.includes("\0")) throw argumentError(where, name, "a path without NUL characters", "one with them");
	return value;
}

const optionalPath = optional(requirePath);

function requireObject(where, name, value) {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw argumentError(where, name, "an object", describe(value));
	}
	return value;
}

function requireArray(where, name, value, expected = "an array") {
	if (!Array.isArray(value)) throw argumentError(where, name, expected, describe(value));
	return value;
}

function requireStrings(where, name, value) {
	const expected = "an array of strings";
	requireArray(where, name, value, expected);
	for (const item of value) {
		if (typeof item !== "string") throw argumentError(where, name, expected, `one with ${describe(item)} in it`);
	}
	return value;
}

const STORAGE_METHODS = [
	"ensureDirSync",
	"existsSync",
	"writeTextSync",
	"statSync",
	"listFilesSync",
	"exists",
	"readText",
	"readTextPrefix",
	"writeText",
	"rename",
	"unlink",
	"openWriter",
];

/** Whether a value has all methods of a storage. */
function checkStorage(where, storage) {
	const isObject = typeof storage === "object" && storage !== null;
	const missing = isObject ? STORAGE_METHODS.filter((method) => typeof storage[method] !== "function") : [];
	if (!isObject) throw argumentError(where, "storage", "a SessionStorage", describe(storage));
	if (missing.length > 0) {
		throw argumentError(where, "storage", "a SessionStorage", `an object without ${missing.join(", ")}`);
	}
	return storage;
}

module.exports = {
	checkStorage,
	describe,
	optionalBoolean,
	optionalNumber,
	optionalString,
	requireArray,
	requireBoolean,
	requireNumber,
	optionalPath,
	requireObject,
	requirePath,
	requireString,
	requireStrings,
};
