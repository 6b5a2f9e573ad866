// Runs unit tests in Pyodide: `node units_in_pyodide.mjs BUILD ROOT SITE LIBRARIES TESTS...`. BUILD: of the page, whose
// libraries are used; ROOT: the repository; SITE: where the machine's libraries are; LIBRARIES: others, in wheels for
// Pyodide. Prints as JSON how many tests have passed, those that have not, and the files that could not be imported.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [build, root, site, libraries, ...tests] = process.argv.slice(2);
// Pyodide's own, whose standard library is whole.
const { loadPyodide } = createRequire(resolve(root, "contracts/package.json"))("pyodide");
const { curve, keccak256 } = await import(pathToFileURL(resolve(build, "crypto.mjs")));
const { unpack } = await import(pathToFileURL(resolve(build, "unpack.mjs")));
const python = await loadPyodide({ stdout: () => {} });
python.registerJsModule("forcemove_js", { curve, keccak256 });
for (const [name, folder] of Object.entries({ root, site, libraries })) {
  python.FS.mkdir(`/m_${name}`);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: resolve(folder) }, `/m_${name}`);
}
await unpack(python.FS, new Uint8Array(readFileSync(resolve(build, "app.bin"))).buffer, "/app");
python.globals.set("TESTS", python.toPy(tests));
console.log(python.runPython(`
import json, os, shutil, sys

PURE = ("_pytest", "attr", "attrs", "iniconfig", "packaging", "pluggy", "py.py", "pygments", "pytest", "sortedcontainers")
os.mkdir("/libs")
for name in PURE:
    copy = shutil.copytree if os.path.isdir(f"/m_site/{name}") else shutil.copyfile
    copy(f"/m_site/{name}", f"/libs/{name}")
for name in ("forcemove", "forcemove_games"):  # those of the repository are used, with what the tests need of them
    shutil.rmtree(f"/app/{name}")
sys.path[:0] = ["/m_root", "/m_root/channel", "/m_root/games", "/m_libraries", "/libs", "/app"]
os.chdir("/m_root")
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("page", deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
settings.load_profile("page")

class Results:
    passed, failed, unimported = 0, {}, {}

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed
        if report.failed:
            self.failed[report.nodeid] = next((line for line in str(report.longrepr).splitlines() if line.startswith("E ")), "")

    def pytest_collectreport(self, report):
        if report.failed:
            self.unimported[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]

results = Results()
options = ["-p", "no:cacheprovider", "--noconftest", "--no-header", "-o", "addopts=", "--continue-on-collection-errors"]
pytest.main([*options, *TESTS], plugins=[results])
json.dumps({"passed": results.passed, "failed": results.failed, "unimported": results.unimported})
`));
