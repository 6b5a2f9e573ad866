// Writes calls: reads a list of them as JSON, each as in vectors.json with its fixed part, and prints their calldata.
import { readFileSync } from "node:fs";

import { write } from "./packed.mjs";

const calls = JSON.parse(readFileSync(0));
console.log(JSON.stringify(calls.map((call) => write[call.operation](call.fixedPart, call))));
