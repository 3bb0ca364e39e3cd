/**
 * Compares with the agent's own session manager, which runs under Bun only.
 * `bun live.mjs <agent package> [--seed 1] [--runs 2000] [--calls 40] [--record]`
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as ours from "../../index.mjs";
import { play, traceHashes } from "./player.mjs";
import { sequence } from "./sequences.mjs";

const [agentPackage, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : otherwise);
const [seed, runs, calls] = [option("--seed", 1), option("--runs", 2000), option("--calls", 40)];

const theirs = await import(path.join(agentPackage, "src/session/session-manager.ts"));
const { setAgentDir } = await import(path.join(agentPackage, "../pi-utils/src/index.ts"));
const dir = fs.mkdtempSync(path.join(os.tmpdir(), "omp-session-parity-"));

async function playOn(api, given, name) {
	const place = path.join(dir, name);
	setAgentDir(path.join(place, "agent"));
	try {
		return await play(api, given, place);
	} catch (error) {
		return [["crash", String(error?.stack), ""]];
	}
}

/** Where two traces part; -1 if they do not. */
function partAt(left, right) {
	const length = Math.max(left.length, right.length);
	for (let at = 0; at < length; at++) if (JSON.stringify(left[at]) !== JSON.stringify(right[at])) return at;
	return -1;
}

async function compare(given) {
	const agent = await playOn(theirs, given, "agent");
	const own = await playOn(ours, given, "own");
	return { at: partAt(agent, own), agent, own };
}

/** The shortest sequence found that still shows a difference. */
async function shrink(given, found) {
	let [shortest, difference] = [{ ...given, calls: given.calls.slice(0, found.at + 1) }, found];
	for (let again = true; again; ) {
		again = false;
		for (let at = shortest.calls.length - 2; at >= 0; at--) {
			const shorter = { ...shortest, calls: shortest.calls.filter((_, index) => index !== at) };
			const result = await compare(shorter);
			if (result.at < 0) continue;
			[shortest, difference, again] = [shorter, result, true];
		}
	}
	return { shortest, difference };
}

function show(given, { at, agent, own }) {
	console.log(`difference with seed ${given.seed}${given.memory ? ", in memory" : ""}, at call ${at}:`);
	for (const call of given.calls) console.log(`  ${JSON.stringify(call).slice(0, 300)}`);
	for (const [index, what] of [
		[1, "result"],
		[2, "state"],
	]) {
		const [left, right] = [agent[at]?.[index] ?? "", own[at]?.[index] ?? ""];
		if (left === right) continue;
		let same = 0;
		while (left[same] === right[same]) same++;
		console.log(`  ${what} of the agent: …${left.slice(Math.max(0, same - 80), same + 200)}`);
		console.log(`  ${what} here:         …${right.slice(Math.max(0, same - 80), same + 200)}`);
	}
}

const recorded = [];
let differences = 0;
for (let number = seed; number < seed + runs; number++) {
	const given = sequence(number, calls);
	const found = await compare(given);
	if (found.at >= 0) {
		differences++;
		const { shortest, difference } = await shrink(given, found);
		show(shortest, difference.at >= 0 ? difference : found);
	}
	if (options.includes("--record")) recorded.push({ seed: number, calls, steps: traceHashes(found.agent) });
	if ((number - seed + 1) % 500 === 0) console.log(`${number - seed + 1} sequences, ${differences} with differences`);
}
fs.rmSync(dir, { recursive: true, force: true });
if (options.includes("--record")) {
	const file = path.join(import.meta.dirname, "fixtures", "recorded.json");
	fs.mkdirSync(path.dirname(file), { recursive: true });
	const { version } = JSON.parse(fs.readFileSync(path.join(agentPackage, "package.json"), "utf8"));
	const rows = recorded.map((row) => `\t\t${JSON.stringify(row)}`).join(",\n");
	fs.writeFileSync(file, `{\n\t"agent": "${version}",\n\t"sequences": [\n${rows}\n\t]\n}\n`);
}
console.log(`${runs} sequences of ${calls} calls from seed ${seed}: ${differences} with differences`);
process.exit(differences === 0 ? 0 : 1);
