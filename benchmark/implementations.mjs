/** Who is measured, on which runtime. Peers are installed when they are asked for, into folders of their own. */
import * as fs from "node:fs";
import * as path from "node:path";
import { AGENT_VERSION, installAgent } from "../scripts/agent.mjs";
import { npm } from "../scripts/npm.mjs";
import { bunBinary, ROOT } from "../scripts/platform.mjs";

const bun = bunBinary();
const own = path.join(ROOT, "index.mjs");

export const OWN = [
	{ name: "omp-session, Node", kind: "own", runtime: process.execPath, module: own },
	{ name: "omp-session, Bun", kind: "own", runtime: bun, module: own },
];

export const LIMIT_RUNTIMES = [
	{ name: "Node", kind: "limit", runtime: process.execPath },
	{ name: "Bun", kind: "limit", runtime: bun },
];

/** What ratios are to. */
export const REFERENCE = `agent ${AGENT_VERSION}, Bun`;

function installPeer(folder, name, version) {
	const dir = path.join(ROOT, ".peers", folder);
	const installed = path.join(dir, "node_modules", name);
	if (!fs.existsSync(path.join(installed, "package.json"))) {
		fs.mkdirSync(dir, { recursive: true });
		fs.writeFileSync(path.join(dir, "package.json"), JSON.stringify({ private: true, name: "peer" }));
		const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`];
		const { status } = npm(args, { cwd: dir, stdio: "inherit" });
		if (status !== 0) throw new Error(`${name}@${version} could not be installed, see above`);
	}
	return installed;
}

/** The agent that is replaced, a newer one, and the agent both come from. */
export function installPeers() {
	const pi = installPeer("pi", "@earendil-works/pi-coding-agent", "0.74.2");
	const newer = installPeer("agent-18", "@oh-my-pi/pi-coding-agent", "18.2.3");
	const agent = (name, dir) => ({
		name,
		kind: "agent",
		runtime: bun,
		module: path.join(dir, "src/session/session-manager.ts"),
	});
	return [
		agent(REFERENCE, installAgent()),
		agent("agent 18.2.3, Bun", newer),
		{
			name: "pi 0.74.2, Node",
			kind: "pi",
			runtime: process.execPath,
			module: path.join(pi, "dist/core/session-manager.js"),
		},
	];
}
