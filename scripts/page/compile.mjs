// Compiles Python's modules by the Python that will run them, and packs them: `node compile.mjs FOLDER APP STDLIB METHOD`.
// FOLDER: what the page imports; APP, STDLIB: the two archives to write, the second from Pyodide's own, of which what no
// page needs is left out; METHOD: `deflated`, or `stored` where the archives are packed again.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, app, stdlib, method] = process.argv.slice(2);
const npm = createRequire(resolve(dirname(fileURLToPath(import.meta.url)), "../../contracts/package.json"));
const { loadPyodide } = npm("pyodide");
const python = await loadPyodide({ env: { HOME: "/", PYTHONHASHSEED: "0" } });
python.FS.mkdir("/made");
python.FS.mount(python.FS.filesystems.NODEFS, { root: resolve(folder) }, "/made");
python.FS.writeFile("/stdlib.zip", readFileSync(npm.resolve("pyodide/python_stdlib.zip")));
python.globals.set("METHOD", method);
python.runPython(`
import ast, io, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)
ENCODINGS = {
    "__init__", "aliases", "ascii", "cp437", "idna", "latin_1", "punycode", "raw_unicode_escape", "unicode_escape",
    "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_8", "utf_8_sig",
}
LEFT_OUT = {
    "_pydatetime", "_pydecimal", "_pyio", "_pyrepl", "antigravity", "bdb", "cProfile", "cmd", "compileall", "curses",
    "dbm", "difflib", "doctest", "ensurepip", "filecmp", "fileinput", "ftplib", "idlelib", "imaplib", "mailbox",
    "multiprocessing", "netrc", "nturl2path", "optparse", "pdb", "pickletools", "plistlib", "poplib", "profile",
    "pstats", "py_compile", "pyclbr", "pydoc", "pydoc_data", "rlcompleter", "sched", "smtplib", "socketserver",
    "statistics", "symtable", "tabnanny", "test", "this", "timeit", "trace", "turtle", "unittest", "venv", "webbrowser",
    "wsgiref", "xml", "xmlrpc", "zipapp",
}

class WithoutDocs(ast.NodeTransformer):
    """Shortens docstrings, which are a third of the bytes; what is asserted stays. Of a class without one, dataclasses
    works out the signature."""

    def visit(self, node):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body[0].value.value = "-"
        return self.generic_visit(node)

def content(data, name, root):
    if not name.endswith(".py"):
        return name, data
    code = compile(WithoutDocs().visit(ast.parse(data)), root + name, "exec", dont_inherit=True, optimize=0)
    return name + "c", bytes(_code_to_hash_pyc(code, source_hash(data), checked=False))

def pack(files, root):
    packed, method = io.BytesIO(), zipfile.ZIP_STORED if METHOD == "stored" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(packed, "w", method, compresslevel=9) as opened:
        for name, data in files:
            name, data = content(data, name, root)
            opened.writestr(zipfile.ZipInfo(name, EPOCH), data, method)
    return packed.getvalue()

def is_needed(name):
    top, _, inner = name.removesuffix(".py").partition("/")
    return top not in LEFT_OUT and (top != "encodings" or inner in ENCODINGS) and not name.endswith("/")

def pack_app():
    paths = sorted(path for path in Path("/made").rglob("*") if path.is_file())
    return pack(((path.relative_to("/made").as_posix(), path.read_bytes()) for path in paths), "/app/")

def pack_stdlib():
    with zipfile.ZipFile("/stdlib.zip") as opened:
        names = filter(is_needed, opened.namelist())
        return pack(((name, opened.read(name)) for name in names), "/lib/python314.zip/")
`);
writeFileSync(app, python.runPython("pack_app()").toJs());
writeFileSync(stdlib, python.runPython("pack_stdlib()").toJs());
