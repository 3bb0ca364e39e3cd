/**
 * The recorded behaviour of the agent's own session manager: the same call sequences must give the
 * same results, states and files here. `npm run parity` shows a difference in full.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import * as api from "../../index.mjs";
import { play, traceHashes } from "./player.mjs";
import { sequence } from "./sequences.mjs";

const recorded = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "fixtures/recorded.json"), "utf8"));
const GROUP = 20;

async function check({ seed, calls, steps }) {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-recorded-"));
	process.env.PI_CODING_AGENT_DIR = path.join(dir, "agent");
	try {
		const given = sequence(seed, calls);
		const hashes = traceHashes(await play(api, given, dir));
		const at = steps.findIndex((hash, index) => hash !== hashes[index]);
		const call = given.calls[at] ?? ["the end"];
		assert.equal(at, -1, `seed ${seed}: call ${at}, ${JSON.stringify(call).slice(0, 200)}, differs`);
	} finally {
		fs.rmSync(dir, { recursive: true, force: true });
	}
}

for (let from = 0; from < recorded.sequences.length; from += GROUP) {
	const group = recorded.sequences.slice(from, from + GROUP);
	test(`sequences ${group[0].seed} to ${group.at(-1).seed} give what agent ${recorded.agent} gives`, async () => {
		for (const given of group) await check(given);
	});
}
