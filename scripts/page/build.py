"""The files of a page in which Python runs.

Our modules come from the wheel, the libraries from the environment, and the one in C from a wheel for browsers, whose
hash `requirements-page.lock` has. Pyodide compiles them, so that a tab need not. The same sources give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, distribution
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from forcemove.registry import GROUP, find_entry_point, game_names
from scripts.page.files import LIBRARIES, OURS, needed_modules, standard_imports

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_NPM = _ROOT / "contracts" / "node_modules"
_PAGE = _ROOT / "channel" / "forcemove" / "link_page"
_BROWSER = _ROOT / "channel" / "forcemove" / "browser"
_FIRST = ("forcemove.link_page.begin_friends", "forcemove.link_page.begin_playground")
_GAMES = ("discard", "rock_paper_scissors", "tic_tac_toe")
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
_ANNOUNCING = ("entry_points.txt", "METADATA")
"""The files by which a distribution's games are found."""
_LOCK = "pyodide-lock.json"
_IN_C = "msgspec"
"""The one library with code of its own that has a wheel for browsers."""


def build(folder: Path, *, is_packed: bool = False, games: Sequence[str] = ()) -> None:
    """Write the files of the page into a folder, which is made anew. Raises `GameInstalledTwice`,
    `MissingImport`, and `SystemExit` with what else is wrong.

    - `is_packed`: whether each is packed beside itself, for hosts that send it so.
    - `games`: names of installed games that are not ours.
    """
    points = [_announced(name) for name in games]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _PYODIDE:
        shutil.copyfile(_NPM / "pyodide" / name, folder / name)
    (folder / _LOCK).write_text(json.dumps(_without_packages()), "utf-8")
    for path in (_PAGE / "static").iterdir():
        shutil.copyfile(path, folder / path.name)
    for name in ("page.css", "forms.css", "lists.css", "page.js", "calls.js", "wallet.js", "icon.svg", "turn.svg"):
        shutil.copyfile(_BROWSER / "static" / name, folder / name)
    _bundle(_PAGE / "static" / "crypto.js", folder / "crypto.js")
    with TemporaryDirectory() as made:
        sources, app = Path(made, "sources"), Path(made, "app")
        _gather(sources, Path(made))
        for each in points:
            _add_game(each, sources)
        lists = _FIRST, sorted(standard_imports(_choose(sources, app, points)))
        method = "stored" if is_packed else "deflated"
        _run("node", str(_HERE / "compile.mjs"), str(app), str(folder), method, given=json.dumps(lists))
    _write_list(folder)
    if is_packed:
        _run("node", str(_HERE / "pack.mjs"), str(folder))


def _gather(sources: Path, made: Path) -> None:
    """Put all that is imported into one folder: our wheel, the libraries, and what stands in for those in C."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(made), str(_ROOT))
    _run(
        *pip,
        *("download", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", str(made)),
        *("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "314"),
        *("--requirement", str(_ROOT / "requirements-page.lock")),
    )
    for wheel in sorted(made.glob("*.whl")):
        with ZipFile(wheel) as opened:
            opened.extractall(sources)
    for library in sorted(LIBRARIES - {_IN_C}):
        _copy_library(library, sources)
    shutil.copytree(_HERE / "stand_ins", sources, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def _copy_library(name: str, sources: Path) -> None:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: run scripts/setup test")
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        shutil.copyfile(origin, sources / origin.name)
    else:
        shutil.copytree(origin.parent, sources / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))


def _announced(name: str) -> EntryPoint:
    """The entry point by which a game is installed."""
    point = find_entry_point(GROUP, name)
    if point is None or point.dist is None:
        raise SystemExit(f"No game is called {name}. Installed are {', '.join(game_names())}: install yours in .venv.")
    return point


def _add_game(point: EntryPoint, sources: Path) -> None:
    """Put a game's package with the libraries, and what announces it."""
    _copy_library(_package(point), sources)
    info = sources / f"{_package(point)}.dist-info"
    info.mkdir()
    for name in _ANNOUNCING:
        (info / name).write_text((point.dist and point.dist.read_text(name)) or "", "utf-8")


def _package(point: EntryPoint) -> str:
    return point.module.partition(".")[0]


def _choose(sources: Path, app: Path, points: Sequence[EntryPoint]) -> Mapping[str, Path]:
    """Copy what the page needs, and nothing else; the modules by name."""
    packages = {_package(each) for each in points}
    first = [*_FIRST, *(f"forcemove_games.{name}" for name in _GAMES), *(each.module for each in points)]
    modules = needed_modules(sources, first, OURS | packages)
    artifacts = (path for each in sorted(packages) for path in (sources / each).rglob("*.json"))
    for path in (*modules.values(), *_data(sources), *artifacts):
        copied = app / path.relative_to(sources)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copied)
    for path in app.rglob("*.json"):
        _drop_sources(path)
    return modules


def _drop_sources(path: Path) -> None:
    """Leave out what a contract was compiled from: only who deploys it needs that."""
    artifact = json.loads(path.read_text("utf-8"))
    if isinstance(artifact, dict) and artifact.pop("standardJson", None):
        path.write_text(json.dumps(artifact), "utf-8")


def _data(sources: Path) -> Iterator[Path]:
    yield from sources.glob("*.py")
    yield sources / "forcemove" / "__init__.pyi"
    yield from (sources / _IN_C).glob("*.so")
    yield from (sources / "forcemove" / "browser" / "templates").iterdir()
    yield from (sources / "forcemove" / "contracts" / "artifacts").glob("*.json")
    for announced in sources.glob("*.dist-info/entry_points.txt"):
        yield from (announced.with_name(name) for name in _ANNOUNCING)


def _without_packages() -> Mapping[str, Any]:
    """Pyodide's list of packages, of which the page loads none."""
    whole: Mapping[str, Any] = json.loads((_NPM / "pyodide" / _LOCK).read_text("utf-8"))
    return {"info": whole["info"], "packages": {}}


def _bundle(source: Path, target: Path) -> None:
    bundler = _NPM / ".bin" / "esbuild"
    _run(
        *(str(bundler), str(source), "--bundle", "--format=esm", "--minify", "--log-level=warning"),
        f"--outfile={target}",
        environment={"NODE_PATH": str(_NPM)},
    )


def _write_list(folder: Path) -> None:
    """Say of each file its size in bytes and its SHA-256, and which versions it was made of."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(folder.iterdir())
    }
    pyodide = json.loads((_NPM / "pyodide" / "package.json").read_text("utf-8"))["version"]
    versions = {"forcemove": distribution("forcemove").version, "pyodide": pyodide}
    content = {"versions": versions, "files": files}
    (folder / "files.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def _run(*command: str, environment: dict[str, str] | None = None, given: str = "") -> None:
    found = subprocess.run(command, env=environment, input=given, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"{' '.join(command[:3])} has failed:\n{found.stdout}{found.stderr}")
