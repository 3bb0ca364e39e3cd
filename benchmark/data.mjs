/** The files that are measured with: made once, the same every time. */
import * as fs from "node:fs";
import * as path from "node:path";
import { ROOT } from "../scripts/platform.mjs";
import { writeChain, writeSession } from "./generate.mjs";

export const DATA = path.join(ROOT, "benchmark", "data");

/** Changes with the content of the data. */
const EDITION = 2;

function writeStore(name, count, megabytes) {
	for (let at = 0; at < count; at++) {
		const project = at % 10;
		const file = path.join(DATA, name, "sessions", `--srv-p${project}--`, `2026-03-04T09-00-00-000Z_${at}.jsonl`);
		writeSession(file, { megabytes, seed: 100 + at, cwd: `/srv/p${project}` });
	}
}

function once(name, make) {
	const marker = path.join(DATA, `${name}-${EDITION}`);
	if (fs.existsSync(marker)) return;
	console.log(`generating ${name} data …`);
	make();
	fs.writeFileSync(marker, "");
}

/** Makes what is missing; `huge` adds files of 500 MB and 2.5 GB. */
export function prepareData({ huge }) {
	const file = (name) => path.join(DATA, name);
	once("usual", () => {
		fs.rmSync(DATA, { recursive: true, force: true });
		writeSession(file("large.jsonl"), { megabytes: 100 });
		writeSession(file("plain.jsonl"), { megabytes: 100, compactions: false, seed: 2 });
		writeSession(file("medium.jsonl"), { megabytes: 10, seed: 4 });
		writeSession(file("small.jsonl"), { megabytes: 1, seed: 3 });
		for (const thousands of [10, 100, 1000]) writeChain(file(`chain-${thousands}k.jsonl`), thousands * 1000);
		writeStore("store", 200, 0.5);
		writeStore("store-2000", 2000, 0.1);
	});
	if (huge) {
		once("huge", () => {
			writeSession(file("500mb.jsonl"), { megabytes: 500, seed: 5 });
			writeSession(file("2.5gb.jsonl"), { megabytes: 2500, seed: 6 });
		});
	}
}
