/** Session files of a project in the agent's directory, and terminals. */
import * as path from "node:path";
import { conversation, HEADER, text } from "./lines.mjs";
import { place, write } from "./place.mjs";

/** Directory of the project `/srv/garden`, below the test's folder. */
export const PROJECT_DIR = "agent/sessions/--srv-garden--";

/** Writes a session of the project; without lines the small conversation. */
export function putSession(name, header = {}, ...lines) {
	return write(
		`${PROJECT_DIR}/${name}.jsonl`,
		text({ ...HEADER, ...header }, ...(lines.length > 0 ? lines : conversation().slice(1))),
	);
}

/** Path of the breadcrumb of a terminal. */
export function crumbOf(terminal) {
	return path.join(place.agent, "terminal-sessions", terminal);
}
