// Compiles Python's modules by the Python that will run them: `node compile.mjs MADE FOLDER METHOD`, with two lists on the
// standard input, as JSON: the modules by which pages begin, and the names that modules import of the standard library.
// MADE: what the page imports; FOLDER: of the page, in which two archives are written; METHOD: `deflated`, or `stored`
// where the archives are packed again.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

process.on("uncaughtException", ({ message }) => { // else Node shows Pyodide's line, which is a megabyte
  console.error(message);
  process.exit(1);
});
const [made, folder, method] = process.argv.slice(2), isStored = method === "stored";
const [first, imported] = JSON.parse(readFileSync(0, "utf-8"));
const here = dirname(fileURLToPath(import.meta.url));
const npm = createRequire(resolve(here, "../../contracts/package.json"));
const { loadPyodide } = npm("pyodide");
const ofPage = (name) => import(`data:text/javascript;base64,${readFileSync(resolve(folder, name), "base64")}`);
const { unpack } = await ofPage("unpack.js");

// Line numbers without columns: what people read of an error in the console.
const python = await loadPyodide({ env: { HOME: "/", PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" } });
python.FS.mkdir("/tools");
python.FS.mkdir("/made");
python.FS.mount(python.FS.filesystems.NODEFS, { root: resolve(made) }, "/made");
python.FS.writeFile("/tools/compiling.py", readFileSync(resolve(here, "compiling.py")));
python.FS.writeFile("/stdlib.zip", readFileSync(npm.resolve("pyodide/python_stdlib.zip")));
python.runPython("import sys; sys.path.append('/tools')");
const compiling = python.pyimport("compiling");

const modules = compiling.compiled_modules("/made", "/app");
await unpack(python.FS, compiling.archive_of(modules).toJs().slice().buffer, "/app");
python.runPython("sys.path.append('/app')");
python.registerJsModule("forcemove_js", await ofPage("crypto.js"));
globalThis.WebSocket ??= class {}; // which only newer versions of Node have
modules.set("prepared.bin", compiling.prepared(first));
const app = compiling.archive_of(modules).toJs();
writeFileSync(resolve(folder, "app.bin"), isStored ? app : gzipSync(app, { level: 9 }));
const stdlib = compiling.pack_stdlib("/stdlib.zip", compiling.standard_files(imported), "/lib/python314.zip", isStored);
writeFileSync(resolve(folder, "python_stdlib.zip"), stdlib.toJs());
