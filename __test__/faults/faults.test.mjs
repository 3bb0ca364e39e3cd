import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { at, freshPlaces } from "../support/place.mjs";

freshPlaces();

/** Calls, the errors they fail with, and whether a call may also fail several times in a row. */
const FAULTS = [
	["write", "ENOSPC"],
	["write", "EINTR"],
	["short", "EIO"],
	["rename", "EACCES"],
	["fdatasync", "EIO"],
	["open", "EMFILE"],
	["flock", "EINTR"],
	["link", "EIO"],
];

/** `FAULT_DEPTH=14` fails every call of the scenario; less is enough for every day. */
const DEPTH = Number(process.env.FAULT_DEPTH ?? 7);

/** Faults are injected by preloading a library. */
const canInject = process.platform === "linux";

if (canInject) {
	const library = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-faults-")), "faults.so");
	execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, path.join(import.meta.dirname, "faults.c"), "-ldl"]);

	for (const [call, code] of FAULTS) {
		test(`${code} of ${call} at any call of a scenario loses nothing and does not latch`, () => {
			for (const count of [1, 3]) {
				for (let skip = 0; skip < DEPTH; skip++) {
					const dir = at(`${skip}-${count}`);
					fs.mkdirSync(dir, { recursive: true });
					const fault = `${call} ${os.constants.errno[code]} ${skip} ${count}\n`;
					const env = {
						...process.env,
						LD_PRELOAD: library,
						FAULTS: path.join(dir, "faults"),
						PI_CODING_AGENT_DIR: path.join(dir, "agent"),
					};
					const scenario = path.join(import.meta.dirname, "scenario.mjs");
					const result = spawnSync(process.execPath, [scenario, dir, fault], {
						env,
						encoding: "utf8",
						timeout: 60_000,
					});
					assert.equal(result.status, 0, `${fault}: ${result.signal} ${result.stderr}`);
					assert.deepEqual(JSON.parse(result.stdout).problems, [], fault);
				}
			}
		});
	}
}
