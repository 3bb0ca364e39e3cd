import * as fs from "node:fs";

/** Lines of a file that are not blank, parsed; null for one that is not JSON. */
export function readLines(file) {
	return fs
		.readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => {
			try {
				return JSON.parse(line);
			} catch {
				return null;
			}
		});
}
