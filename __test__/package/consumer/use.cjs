const omp = require("omp-session");
const { run } = require("./scenario.cjs");

run(omp);
