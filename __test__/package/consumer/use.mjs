import * as omp from "omp-session";
import { run } from "./scenario.cjs";

await run(omp);
