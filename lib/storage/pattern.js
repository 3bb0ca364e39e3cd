/** Whether a file name matches a pattern of the storage interface: a name, `*`, or `*.ending`. */
function matchesPattern(name, pattern) {
	if (pattern === "*") return true;
	return pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : name === pattern;
}

module.exports = { matchesPattern };
