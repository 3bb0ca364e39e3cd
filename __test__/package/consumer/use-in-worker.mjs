import { isMainThread, Worker } from "node:worker_threads";
import * as omp from "omp-session";
import { run } from "./scenario.cjs";

if (isMainThread) {
	// The main thread has the addon too: each has its own environment in it.
	omp.SessionManager.inMemory("/srv/garden");
	new Worker(new URL(import.meta.url));
} else {
	await run(omp);
}
