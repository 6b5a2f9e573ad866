// Runs a program of Python in Pyodide, with a build's modules: `node in_pyodide.mjs BUILD PROGRAM`. Prints its `found`.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [build, program] = process.argv.slice(2).map((each) => resolve(each));
const of = (name) => import(pathToFileURL(resolve(build, name)));
const { loadPyodide } = await of("pyodide.mjs");
const { curve, keccak256 } = await of("crypto.mjs");
const { unpack } = await of("unpack.mjs");
const python = await loadPyodide({ indexURL: `${build}/` });
python.registerJsModule("forcemove_js", { curve, keccak256 });
await unpack(python.FS, new Uint8Array(readFileSync(resolve(build, "app.bin"))).buffer, "/app");
python.runPython("import sys; sys.path.insert(0, '/app')");
python.runPython(readFileSync(program, "utf-8"));
console.log(python.globals.get("found"));
