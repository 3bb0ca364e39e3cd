/** Installs the agent whose session manager this package replaces, for comparing with it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm } from "./npm.mjs";
import { ROOT } from "./platform.mjs";

export const AGENT_VERSION = "13.19.0";

const FOLDER = path.join(ROOT, ".agent");

/** Path of the installed agent's package; installs it into a folder of its own if need be. */
export function installAgent() {
	const agent = path.join(FOLDER, "node_modules", "@oh-my-pi", "pi-coding-agent");
	if (existsSync(path.join(agent, "package.json"))) return agent;
	mkdirSync(FOLDER, { recursive: true });
	writeFileSync(path.join(FOLDER, "package.json"), JSON.stringify({ private: true, name: "agent" }));
	const packages = [`@oh-my-pi/pi-coding-agent@${AGENT_VERSION}`];
	const options = { cwd: FOLDER, stdio: "inherit" };
	const { status } = npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], options);
	if (status !== 0) throw new Error("the agent could not be installed, see above");
	return agent;
}
