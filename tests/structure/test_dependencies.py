"""What the project says that it needs is what it imports, and the lock files pin it."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.structure.imports import ROOT, ROOTS, read_imports, source_files

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NEEDED = [Requirement(text) for text in PYPROJECT["project"]["dependencies"]]
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
OPTIONAL = [Requirement(text) for name in ("author", "fast", "nats", "postgresql") for text in EXTRAS[name]]
NEEDED_BY_TESTS = [Requirement(text) for text in EXTRAS["test"]]
NEEDED_BY_BUILD = [Requirement(text) for text in PYPROJECT["build-system"]["requires"]]
PLAY, TEST, ANALYSIS = "requirements.lock", "requirements-test.lock", "requirements-analysis.lock"
DOCS = "requirements-docs.lock"
PAGE = "requirements-page.lock"
LOCKS = [PLAY, TEST, ANALYSIS, DOCS, PAGE]

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)
_ENTRY = re.compile(r"^[A-Za-z0-9].*(?:\n {4}.*)*", re.MULTILINE)


def lock_text(lock: str) -> str:
    return (ROOT / lock).read_text("utf-8")


def pins(lock: str) -> dict[str, str]:
    return dict(_PIN.findall(lock_text(lock)))


def imported_distributions() -> set[str]:
    """The distributions whose modules the wheel imports."""
    shipped = {name: path for name, path in source_files().items() if name.split(".", 1)[0] != "scripts"}
    imports = read_imports(shipped)
    modules = {name for imported in imports.values() for name in imported if name.split(".", 1)[0] not in ROOTS}
    known = packages_distributions()
    return {canonicalize_name(known[name][0]) for name in modules - sys.stdlib_module_names}


def test_what_is_imported_is_needed_and_what_is_needed_is_imported() -> None:
    assert {canonicalize_name(each.name) for each in NEEDED + OPTIONAL} == imported_distributions()


@pytest.mark.parametrize("lock", [PLAY, TEST])
def test_a_lock_pins_what_is_needed(lock: str) -> None:
    needed = NEEDED + NEEDED_BY_BUILD + (NEEDED_BY_TESTS if lock == TEST else [])
    unmet = [str(each) for each in needed if not each.specifier.contains(pins(lock)[canonicalize_name(each.name)])]
    assert unmet == []


@pytest.mark.parametrize(("lock", "group"), [(ANALYSIS, "analysis"), (DOCS, "docs")])
def test_the_lock_of_a_group_pins_what_it_needs(lock: str, group: str) -> None:
    needed = map(Requirement, PYPROJECT["dependency-groups"][group])
    assert [str(each) for each in needed if not each.specifier.contains(pins(lock)[canonicalize_name(each.name)])] == []


def test_the_pages_are_built_on_the_versions_that_tests_have() -> None:
    """What builds them imports both."""
    both = pins(DOCS).keys() & pins(TEST).keys()
    assert {name: pins(DOCS)[name] for name in both} == {name: pins(TEST)[name] for name in both}


def test_tests_run_on_the_versions_that_players_have() -> None:
    assert set(_ENTRY.findall(lock_text(PLAY))) <= set(_ENTRY.findall(lock_text(TEST)))


def test_a_page_has_the_versions_that_players_have() -> None:
    assert pins(PAGE).items() <= pins(PLAY).items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_of_a_lock_is_one_version_with_hashes(lock: str) -> None:
    entries = _ENTRY.findall(lock_text(lock))
    assert len(entries) == len(pins(lock)) > 0
    assert [entry for entry in entries if not _PIN.match(entry) or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", [*LOCKS, "contracts/package-lock.json"])
def test_a_lock_names_no_server_to_install_from(lock: str) -> None:
    assert re.findall(r'--(?:extra-)?index-url|--find-links|file:|"resolved"|@ http', lock_text(lock)) == []
