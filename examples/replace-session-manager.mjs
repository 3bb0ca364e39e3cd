/**
 * Gives a copy of the agent this package in place of its session manager: one file that re-exports it. All
 * that the agent does with sessions then goes through this package; its files stay as they were.
 *
 *   node examples/replace-session-manager.mjs <copy of @oh-my-pi/pi-coding-agent> [<what to import>]
 */
import * as fs from "node:fs";
import * as path from "node:path";

const [agent, module = "omp-session"] = process.argv.slice(2);
const file = path.join(agent, "src", "session", "session-manager.ts");
if (!fs.existsSync(file)) throw new Error(`${agent} is not the agent: there is no ${file}`);
fs.writeFileSync(file, `export * from ${JSON.stringify(module)};\n`);
console.log(`${file} re-exports ${module}`);
