const { checkStorage } = require("../arguments.js");
const { FileSessionStorage } = require("./file-storage.js");

/**
 * The storage to go through, or undefined for the file system itself, whose work native code does.
 */
function customStorage(where, storage) {
	if (storage === undefined || storage === null) return undefined;
	checkStorage(where, storage);
	return Object.getPrototypeOf(storage) === FileSessionStorage.prototype ? undefined : storage;
}

module.exports = { customStorage };
