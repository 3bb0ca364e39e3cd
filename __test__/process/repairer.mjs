/** A process that repairs a session and says when it begins and when it is done. `repairer.mjs <file>` */
import * as fs from "node:fs";
import { SessionManager } from "../../index.mjs";

fs.writeSync(1, "begins\n");
await SessionManager.repair(process.argv[2]);
fs.writeSync(1, "done\n");
