#!/usr/bin/env node
// npm's compiler as a `solc` command line for py-solc-x: standard JSON in on stdin, out on stdout. The package's own
// command loses input that arrives in pieces and cuts long output; this one reads to the end and writes through a file
// descriptor until everything is out.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

// FORCEMOVE_SOLC_PLACE: the folder whose node_modules, or those above, have the compiler; else our own.
const place = process.env.FORCEMOVE_SOLC_PLACE;
const solc = createRequire(place ? `${place}/` : import.meta.url)("solc");

const line = process.argv.slice(2).join(" ");
if (line.includes("--version")) {
  write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else if (line.includes("--standard-json")) {
  write(solc.compile(readFileSync(0, "utf8")));
} else {
  process.stderr.write("usage: solc.mjs --version | --standard-json\n");
  process.exit(2);
}

function write(text) {
  const bytes = Buffer.from(text, "utf8");
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(1, bytes, offset);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
