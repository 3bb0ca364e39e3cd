/** Builds the addon where it is missing, then shows the demo. `npm run demo [-- path/to/session.jsonl]` */
import { setup } from "./setup.mjs";

try {
	setup({ packages: false });
	await import("../demo/demo.mjs");
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
}
