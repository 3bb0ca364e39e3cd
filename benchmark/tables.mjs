/** What was measured, as Markdown tables. */
import { LIMIT_RUNTIMES, REFERENCE } from "./implementations.mjs";
import { LIMITS } from "./limits.mjs";

/** Where a peer does something else under the same name, so that its figure says something else. */
export const OTHERWISE = [
	"Not the same work:",
	"",
	"- The agent 18.2.3 lists from the beginnings of files: its counts and texts are not those of the whole files.",
	"- The agent 13.19.0 collects appended lines in the process: when a call returns, the kernel does not have them.",
	"- pi renames by appending a line, without a new header.",
];

const number = (value, digits = 0) => (value === undefined ? "" : value.toFixed(digits));

/** All figures of all implementations. */
export function workloadTable(workloads, names, result) {
	const lines = [
		`| workload | implementation | CPU ms | ratio to the agent | wall ms | peak MB above idle | p50 / p99 µs | stall ms |`,
		"| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
	];
	for (const workload of workloads.filter((name) => name !== "idle")) {
		const base = result(workload, REFERENCE);
		for (const name of names) {
			const one = result(workload, name);
			if (one === undefined) continue;
			if (one.failed) {
				lines.push(`| ${workload} | ${name} | ${one.failed} |  |  |  |  |  |`);
				continue;
			}
			const ratio = base && !base.failed ? `${(base.cpu / one.cpu).toFixed(1)}x` : "";
			const times = one.p50 === undefined ? "" : `${number(one.p50 * 1000)} / ${number(one.p99 * 1000)}`;
			lines.push(
				`| ${workload} | ${name} | ${number(one.cpu)} | ${ratio} | ${number(one.wall)} | ${number(one.above)} | ${times} | ${number(one.stall, 1)} |`,
			);
		}
	}
	return lines;
}

export function limitTable(limit) {
	const lines = [
		"| limit | runtime | CPU ms | wall ms | peak MB above idle | p50 / p99 µs |",
		"| --- | --- | ---: | ---: | ---: | ---: |",
	];
	for (const name of Object.keys(LIMITS)) {
		for (const runtime of LIMIT_RUNTIMES) {
			const { cpu, wall, above, p50, p99 } = limit(name, runtime.name);
			const times = p50 === undefined ? "" : `${number(p50 * 1000)} / ${number(p99 * 1000)}`;
			lines.push(
				`| ${name} | ${runtime.name} | ${number(cpu, 1)} | ${number(wall, 1)} | ${number(above)} | ${times} |`,
			);
		}
	}
	return lines;
}
