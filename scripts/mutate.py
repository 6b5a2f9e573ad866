#!/usr/bin/env python3
"""Takes each defence out in turn and checks that its tests fail.

`tests/threats/mutations.toml` lists mutations: an exact piece of a source, its replacement, and the tests that must
fail then. Each is made in a copy of the working tree in a temporary directory, where the contract that it is a part of
is compiled again and only these tests are run. A mutation is killed when each of them fails; errors outside of the
tests themselves do not count. Before all that the unchanged copy, compiled from its sources, must pass them.

Ends with status 1 if a mutation survives, cannot be made, or does not compile, and if an attack of the project's list
has no mutation.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.forked_pytest import ForkedPytest  # noqa: E402

MUTATIONS = ROOT / "tests" / "threats" / "mutations.toml"
THREATS = (*range(1, 62), *range(95, 99), *range(100, 105))
"""The rows of the list of attacks that have a defence here; each has a mutation."""
SECONDS = 600
"""How long one compilation, or the tests of one mutation, may take."""
SECONDS_UNCHANGED = 3_600
"""How long the tests of all mutations may take on the unchanged sources."""

_OPTIONS = ("-p", "no:cacheprovider", "-m", "not long")
_FAILED = re.compile(r"^FAILED ([^\s\[]+)", re.MULTILINE)
_REBUILD = "import sys; from scripts.mutate import rebuild; rebuild(sys.argv[1])"
_NAMES = {"name", "threats", "file", "find", "replace", "tests"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A defence and how to take it out.

    `threats`: the rows that it defends against; none for views and cards, which the list of attacks leaves out. `file`:
    from the root. `find`: occurs once in it. `contract`: the artifact that `file` is a part of and that the tests
    attack; empty for Python. `tests`: pytest's names of functions, without parameters; each must fail for at least one
    of its parameters.
    """

    name: str
    threats: tuple[int, ...]
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    contract: str = ""

    @property
    def label(self) -> str:
        """The name with the rows in front."""
        return f"{', '.join(map(str, self.threats)) or '-'}: {self.name}"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a mutation; `problem` is empty where it was killed."""

    mutation: Mutation
    problem: str
    seconds: float


class Failure(Exception):
    """A copy could not be made ready; the text says why."""


def load(path: Path = MUTATIONS) -> list[Mutation]:
    """The mutations of a file. Raises `Failure` where it is not what this module's head says."""
    mutations = []
    for entry in tomllib.loads(path.read_text("utf-8"))["mutation"]:
        if set(entry) - {"contract"} != _NAMES:
            raise Failure(f"{path.name}: {entry.get('name', entry)} does not have exactly {', '.join(sorted(_NAMES))}")
        mutations.append(Mutation(**entry | {"threats": tuple(entry["threats"]), "tests": tuple(entry["tests"])}))
    return mutations


def problems(mutations: Sequence[Mutation]) -> list[str]:
    """The faults of a list of mutations, in sentences, before any is run."""
    found = []
    names = [mutation.name for mutation in mutations]
    found += [f"two mutations are called {name}" for name in sorted(set(names)) if names.count(name) > 1]
    for mutation in mutations:
        found += [f"{mutation.label}: {problem}" for problem in _problems_of(mutation)]
    return found


def uncovered(mutations: Iterable[Mutation]) -> list[int]:
    """The attacks that no mutation belongs to."""
    return sorted(set(THREATS) - {threat for mutation in mutations for threat in mutation.threats})


def _problems_of(mutation: Mutation) -> Iterator[str]:
    source = ROOT / mutation.file
    if not source.is_file():
        yield f"does not apply: there is no {mutation.file}"
        return
    times = source.read_text("utf-8").count(mutation.find)
    if times != 1:
        yield f"does not apply: {mutation.file} has its text {times} times"
    if mutation.file.endswith(".sol") and mutation.file not in _sources_of(mutation.contract):
        yield f"its file is not part of the contract {mutation.contract}"
    if mutation.find == mutation.replace or not mutation.tests:
        yield "changes nothing, or names no test"
    for test in mutation.tests:
        path, _, function = test.partition("::")
        if function not in _functions(ROOT / path):
            yield f"there is no test {test}"


@cache
def _functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    return {
        node.name
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


# --------------------------------------------------------------------------------------------------------------- copies


def copy_sources(target: Path) -> None:
    """Copy what git tracks, or would track, with its changes; the compiler is linked."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    modules = ROOT / "contracts" / "node_modules"
    if modules.is_dir():
        (target / "contracts" / "node_modules").symlink_to(modules)


def rebuild(contract: str) -> None:
    """Compile one contract and write its artifact. Runs inside of a copy.

    A mutation may leave a variable unused: warnings do not matter here.
    """
    import solcx

    from scripts import compile_contracts as compiler

    compile_standard: Callable[..., dict[str, Any]] = solcx.compile_standard
    solcx.compile_standard = lambda *args, **options: compile_standard(*args, **options) | {"errors": []}
    path = _artifact(contract)
    source = ROOT / json.loads(path.read_text("utf-8"))["sourceName"]
    path.write_text(json.dumps(compiler.build_artifacts([source])[contract]), "utf-8")


def _artifact(contract: str) -> Path:
    """Where the artifact of a contract is: of the product, else of those that only tests use."""
    artifacts = ROOT / "contracts" / "artifacts"
    places = [artifacts / folder / f"{contract}.json" for folder in (".", "demo", "testing", "test")]
    return next((place for place in places if place.is_file()), places[0])


@cache
def _sources_of(contract: str) -> frozenset[str]:
    """The files that a contract is made of; none where there is no such contract."""
    from scripts.compile_contracts import standard_json

    path = _artifact(contract)
    if not path.is_file():
        return frozenset()
    return frozenset(standard_json([ROOT / json.loads(path.read_text("utf-8"))["sourceName"]])["sources"])


def _run(tree: Path, *arguments: str, seconds: int = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run Python inside of a copy, with the copy's code. Raises `Failure` where it does not end."""
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(
            command, cwd=tree, env=_environment(tree), capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"did not end within {seconds} seconds") from None


def _environment(tree: Path) -> dict[str, str]:
    """In which a copy's code is found first, and Python keeps what it has compiled: mutations differ in one file."""
    paths = {"PYTHONPATH": os.pathsep.join(str(tree / each) for each in ("channel", "games", "."))}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | paths


def _require_success(done: subprocess.CompletedProcess[str], what: str) -> None:
    if done.returncode != 0:
        raise Failure(f"{what}: {(done.stdout + done.stderr).strip()[-1500:]}")


# ---------------------------------------------------------------------------------------------------------------- tests


_of_thread = threading.local()
"""`pytest`: of a thread that judges mutations."""


def failed_tests(tree: Path, tests: Sequence[str]) -> set[str]:
    """Run tests in a copy; those that failed, without their parameters. Raises `Failure` where they could not be run.

    An error in a fixture is not a failure: the test itself has to notice the mutation.
    """
    if not hasattr(_of_thread, "pytest"):
        _of_thread.pytest = ForkedPytest()
    try:
        done = _of_thread.pytest.run([*_OPTIONS, "--tb=no", "-rf", *tests], tree, _environment(tree), SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"did not end within {SECONDS} seconds") from None
    if done.returncode not in (0, 1):
        raise Failure(f"pytest ended with status {done.returncode}: {done.stdout.strip()[-1500:]}")
    return set(_FAILED.findall(done.stdout))


def prepare(tree: Path, mutations: Sequence[Mutation], jobs: int) -> None:
    """Make the unchanged copy, and see it pass every test that a mutation names. Raises `Failure`."""
    copy_sources(tree)
    if any(mutation.contract for mutation in mutations):
        _require_success(_run(tree, "-m", "scripts.compile_contracts"), "the unchanged sources do not compile")
    tests = sorted({test for mutation in mutations for test in mutation.tests})
    done = _run(tree, "-m", "pytest", *_OPTIONS, "--tb=short", "-n", str(jobs), *tests, seconds=SECONDS_UNCHANGED)
    _require_success(done, "the unchanged sources do not pass")


def judge(mutation: Mutation, original: Path) -> Result:
    """Make a mutation in a copy of its own, and run its tests there."""
    start = time.monotonic()
    with TemporaryDirectory(prefix="forcemove-mutant-") as name:
        tree = Path(name, "tree")
        try:
            problem = _survival(mutation, original, tree)
        except Failure as failure:
            problem = str(failure)
    return Result(mutation, problem, time.monotonic() - start)


def _survival(mutation: Mutation, original: Path, tree: Path) -> str:
    """The tests that did not notice, in a sentence; empty where all did."""
    shutil.copytree(original, tree, symlinks=True, ignore=shutil.ignore_patterns(".hypothesis"))
    source = tree / mutation.file
    source.write_text(source.read_text("utf-8").replace(mutation.find, mutation.replace), "utf-8")
    Path(cache_from_source(str(source))).unlink(missing_ok=True)
    if mutation.contract:
        _require_success(_run(tree, "-c", _REBUILD, mutation.contract), "does not compile")
    unmoved = sorted(set(mutation.tests) - failed_tests(tree, mutation.tests))
    return f"survives {', '.join(unmoved)}" if unmoved else ""


# ----------------------------------------------------------------------------------------------------------------- main


def run_all(mutations: Sequence[Mutation], jobs: int) -> list[Result]:
    """Run mutations, this many at a time, and print each result. Raises `Failure` where the original does not pass."""
    with TemporaryDirectory(prefix="forcemove-original-") as name:
        original = Path(name, "tree")
        original.mkdir()
        print(f"The unchanged sources must pass the tests of {len(mutations)} mutations first ...", flush=True)
        prepare(original, mutations, jobs)
        results = []
        with ThreadPoolExecutor(jobs) as pool:
            waiting = [pool.submit(judge, mutation, original) for mutation in mutations]
            try:
                for done in as_completed(waiting):
                    results.append(done.result())
                    print(_line(results[-1], len(results), len(mutations)), flush=True)
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise
        return results


def _line(result: Result, place: int, count: int) -> str:
    verdict = "SURVIVES" if result.problem else "killed"
    line = f"{place:3}/{count}  {verdict:8}  {result.seconds:4.0f} s  {result.mutation.label}"
    return f"{line}\n         {result.problem}" if result.problem else line


def summary(results: Sequence[Result]) -> str:
    """A table: per attack, how many mutations were killed of how many."""
    lines = ["", "attack  killed  of"]
    for threat in sorted({threat for result in results for threat in result.mutation.threats}):
        of = [result for result in results if threat in result.mutation.threats]
        lines.append(f"{threat:6}  {sum(not result.problem for result in of):6}  {len(of):2}")
    killed = sum(not result.problem for result in results)
    return "\n".join([*lines, "", f"{killed} of {len(results)} mutations were killed."])


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Take each defence out in turn and see its tests fail.")
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        type=_pattern,
        help="those whose rows, name or file match this regular expression",
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at a time (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="name the mutations and run nothing")
    return parser.parse_args(arguments)


def _run_chosen(options: argparse.Namespace) -> int:
    everything = load()
    chosen = [each for each in everything if not options.only or options.only.search(f"{each.label} {each.file}")]
    if options.list:
        print("\n".join(f"{each.label}  ({each.file})" for each in chosen))
        return 0
    wrong = problems(chosen)
    if not options.only:
        wrong += [f"attack {threat} has no mutation" for threat in uncovered(everything)]
    print("\n".join(wrong), end="\n" if wrong else "")
    runnable = [each for each in chosen if not any(_problems_of(each))]
    if not runnable:
        raise Failure("There is no mutation to run.")
    results = run_all(runnable, max(1, options.jobs))
    print(summary(results))
    return 1 if wrong or any(result.problem for result in results) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    try:
        return _run_chosen(_parse(arguments))
    except Failure as failure:
        print(failure)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
