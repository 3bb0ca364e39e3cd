/** Texts from outside as parts of file names: nothing in them can lead to another directory. */

const RESERVED_ON_WINDOWS = /[<>:"|?*]/g;

/** The start of a text that is at most `bytes` long in UTF-8, without half a character. */
function cutToBytes(text, bytes) {
	const whole = Buffer.from(text, "utf8");
	if (whole.length <= bytes) return text;
	let end = bytes;
	while (end > 0 && (whole[end] & 0xc0) === 0x80) end--;
	return whole.toString("utf8", 0, end);
}

/** A text with what separates or ends names replaced by dashes, at most `bytes` long. */
function namePart(text, bytes) {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
	const plain = text.toWellFormed().replace(/[/\\\u0000-\u001f\u007f]/g, "-");
	return cutToBytes(process.platform === "win32" ? plain.replace(RESERVED_ON_WINDOWS, "-") : plain, bytes);
}

module.exports = { cutToBytes, namePart };
