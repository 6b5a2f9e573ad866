// Compiles Python's modules by the Python that will run them, and packs them: `node compile.mjs FOLDER ZIP`.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, target] = process.argv.slice(2).map((each) => resolve(each));
const npm = createRequire(resolve(dirname(fileURLToPath(import.meta.url)), "../../contracts/package.json"));
const { loadPyodide } = npm("pyodide");
const python = await loadPyodide({ env: { HOME: "/", PYTHONHASHSEED: "0" } });
python.FS.mkdir("/made");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/made");
const packed = python.runPython(`
import ast, io, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)

class WithoutDocs(ast.NodeTransformer):
    """Empties docstrings, which are a third of the bytes; what is asserted stays."""

    def visit(self, node):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body[0].value.value = ""
        return self.generic_visit(node)

def content(path, name):
    data = path.read_bytes()
    if path.suffix != ".py":
        return name, data
    code = compile(WithoutDocs().visit(ast.parse(data)), "/app/" + name, "exec", dont_inherit=True, optimize=0)
    return name + "c", bytes(_code_to_hash_pyc(code, source_hash(data), checked=False))

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as opened:
    for path in sorted(Path("/made").rglob("*")):
        if path.is_file():
            name, data = content(path, path.relative_to("/made").as_posix())
            opened.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)
packed.getvalue()
`);
writeFileSync(target, packed.toJs());
