"""The wheel has what playing needs, and plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from forcemove.contracts import artifact_names
from tests.packaging.wheel import ROOT, install, install_from_ours, run


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as content:
        return set(content.namelist())


def test_the_wheel_has_every_module_and_contract_of_the_product(names: set[str]) -> None:
    modules = {_installed(path) for folder in ("channel", "games") for path in (ROOT / folder).rglob("*.py")}
    artifacts = {f"forcemove/contracts/artifacts/{name}.json" for name in artifact_names()}
    others = {
        "forcemove/contracts/__init__.py",
        "forcemove/contracts/interfaces/IForceMoveApp.sol",
        "forcemove/py.typed",
        "forcemove_games/py.typed",
    }
    assert modules | artifacts | others <= names


def test_the_wheel_has_what_the_page_is_made_of(names: set[str]) -> None:
    browser = ROOT / "channel" / "forcemove" / "browser"
    files = [path for folder in ("static", "templates") for path in (browser / folder).iterdir()]
    assert len(files) > 10
    assert {_installed(path) for path in files} <= names


def _installed(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[1:])


def test_the_wheel_has_what_clients_in_other_languages_are_made_with(names: set[str]) -> None:
    assert {f"forcemove/contracts/{name}" for name in ("README.md", "eip712.json", "vectors.json")} <= names


def test_the_wheel_has_nothing_that_only_developers_need(names: set[str]) -> None:
    assert [name for name in names if not name.startswith(("forcemove/", "forcemove_games/", "forcemove-"))] == []
    unwanted = ("test/", "artifacts/test/", "node_modules/")
    unwanted_names = tuple(f"forcemove/contracts/{each}" for each in unwanted)
    assert [name for name in names if name.startswith(unwanted_names) or "package" in name] == []


@pytest.mark.parametrize(
    ("make", "scenarios"),
    [(install_from_ours, ("--scenario", "honest")), pytest.param(install, (), marks=pytest.mark.long)],
)
def test_the_wheel_in_an_empty_environment_plays_the_demo(
    make: Callable[[Path, Path], Path], scenarios: Sequence[str], wheel: Path, tmp_path: Path
) -> None:
    """That set-up installs from the index what a lock file pins is not news: our own environment comes from one that
    has the same entries, which `test_dependencies` requires."""
    forcemove = make(wheel, tmp_path / "environment") / "forcemove"
    assert "demo" in run(forcemove, "--help", folder=tmp_path)
    assert run(forcemove, "demo", *scenarios, folder=tmp_path)
