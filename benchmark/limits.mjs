/** The limits: what cannot be avoided, or what a plain program would do. */
import * as fs from "node:fs";
import * as path from "node:path";
import { assistant, burst } from "./workloads.mjs";

/** Lines of a file without their LF, read by the megabyte; the last line ends in one. */
function* linesOf(name) {
	const file = fs.openSync(name, "r");
	let buffer = Buffer.alloc(1 << 20);
	let filled = 0;
	for (;;) {
		if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
		const count = fs.readSync(file, buffer, filled, buffer.length - filled, null);
		if (count === 0) break;
		filled += count;
		let from = 0;
		for (let end = buffer.indexOf(10); end !== -1 && end < filled; end = buffer.indexOf(10, from)) {
			yield buffer.subarray(from, end);
			from = end + 1;
		}
		buffer.copyWithin(0, from, filled);
		filled -= from;
	}
	fs.closeSync(file);
}

export const LIMITS = {
	"read 100 MB": async (data) => {
		const buffer = Buffer.alloc(1 << 20);
		const file = fs.openSync(data.large, "r");
		while (fs.readSync(file, buffer, 0, buffer.length, null) > 0);
		fs.closeSync(file);
		return {};
	},
	"read 100 MB and find its newlines": async (data) => {
		let count = 0;
		for (const _ of linesOf(data.large)) count++;
		return { count };
	},
	"JSON.parse of each line": async (data) => {
		let count = 0;
		for (const line of linesOf(data.plain)) count += Object.keys(JSON.parse(line.toString())).length;
		return { count };
	},
	"JSON.parse of each line, and keeping it": async (data) => {
		const kept = [];
		for (const line of linesOf(data.plain)) kept.push(JSON.parse(line.toString()));
		return { count: kept.length };
	},
	"stat of 2,000 files": async (data) => {
		const root = path.join(path.dirname(data.large), "store-2000", "sessions");
		let bytes = 0;
		for (const project of fs.readdirSync(root)) {
			const dir = path.join(root, project);
			for (const name of fs.readdirSync(dir)) bytes += fs.statSync(path.join(dir, name)).size;
		}
		return { bytes };
	},
	"JSON.stringify + one write, 10,000 x 2 KB": async (data) => {
		const file = fs.openSync(path.join(data.scratch, "plain.jsonl"), "a");
		const text = "x".repeat(1700);
		const times = burst(10_000, (at) => {
			const line = {
				type: "message",
				id: "00000000",
				parentId: "00000000",
				timestamp: new Date().toISOString(),
				message: assistant(`${at} ${text}`),
			};
			fs.writeSync(file, `${JSON.stringify(line)}\n`);
		});
		fs.fsyncSync(file);
		return times;
	},
	"500,000 Map look-ups": async () => {
		const ids = Array.from({ length: 100_000 }, (_, at) => at.toString(16).padStart(8, "0"));
		const map = new Map(ids.map((id) => [id, { id }]));
		let found = 0;
		for (let round = 0; round < 6; round++) {
			if (round === 1) startClock();
			for (const id of ids) if (map.get(id)) found++;
		}
		return { found };
	},
	"20 array copies of 100,000": async () => {
		const array = Array.from({ length: 100_000 }, (_, at) => ({ at }));
		let length = 0;
		for (let round = 0; round < 21; round++) {
			if (round === 1) startClock();
			length += array.slice().length;
		}
		return { length };
	},
};

/** Set by a limit that had something to prepare: what is measured begins here. */
export const clock = { cpu: undefined, wall: undefined };

function startClock() {
	clock.cpu = process.cpuUsage();
	clock.wall = performance.now();
}
