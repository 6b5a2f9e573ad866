"""What is deployed keeps its address, which follows from its creation code: only what it does may change that."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import scripts.compile_contracts as compiler
from forcemove.contracts import artifact, artifact_names

MOVED = (
    "This moves the address of every contract that is named here: channels at the old addresses stay there, and new "
    "clients refuse them. If that is meant, run `scripts/compile --pin`."
)
_ANOTHER_GAME = """// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {VariablePart} from "../types/Channel.sol";

contract Another {
    error Never(uint256 turnNum);

    function validTransition(VariablePart calldata from, VariablePart calldata, uint256) external pure returns (bool) {
        if (from.turnNum > 5) revert Never(from.turnNum);
        return true;
    }
}
"""


def test_the_creation_codes_are_pinned() -> None:
    assert json.loads(compiler.PINNED.read_text("utf-8")) == compiler.pins(), MOVED


def test_a_contract_is_compiled_from_nothing_but_what_it_imports() -> None:
    for source in compiler.product_sources():
        others = {path.name for path in compiler.product_sources()} - {source.name}
        given = compiler.standard_json([source])["sources"]
        assert not others & {Path(name).name for name in given}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sources in another place, where they may be changed."""
    there = tmp_path / "contracts"
    shutil.copytree(
        compiler.CONTRACTS, there, ignore=shutil.ignore_patterns("node_modules", "artifacts", "__pycache__")
    )
    (there / "node_modules").symlink_to(compiler.CONTRACTS / "node_modules")
    monkeypatch.setattr(compiler, "CONTRACTS", there)
    return there


_SOURCES = {"sourceHash", "standardJson"}
"""What an artifact has from the texts of the sources, comments and all; `test_artifacts` compares that."""


def _add_comments(source: Path) -> None:
    """Before the first line, behind the last, before each function; and what the documentation says."""
    text = source.read_text("utf-8").replace("    function ", "    // Another word about it.\n    function ")
    text = text.replace("/// @dev ", "/// @dev Said more clearly: ")
    source.write_text(f"// The first line.\n{text}\n/* The last line. */\n", "utf-8")


def _compiled(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in _SOURCES}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("RockPaperScissors",), id="one"),
        pytest.param(artifact_names(), id="all", marks=pytest.mark.long),
    ],
)
def test_neither_a_comment_nor_another_game_moves_a_contract(copied: Path, names: Sequence[str]) -> None:
    """Nor does it change anything else that the compiler says: the committed artifacts are what the sources compile to,
    with other comments or without. The adjudicator alone takes the compiler ten seconds; one whose source has changed
    is compiled in every run, by `test_artifacts`."""
    for source in copied.rglob("*.sol"):
        if "node_modules" not in source.parts:
            _add_comments(source)
    (copied / "games" / "Another.sol").write_text(_ANOTHER_GAME, "utf-8")
    sources = {source.stem: source for source in compiler.product_sources()}
    assert set(sources) == {*artifact_names(), "Another"}

    for name in names:
        built = compiler.build_artifacts([sources[name]])[name]
        assert built["sourceHash"] != artifact(name).source_hash.hex(), "its source has changed"
        assert built["creationCodeHash"] == "0x" + artifact(name).creation_code_hash.hex(), MOVED
        committed = json.loads((compiler.ARTIFACTS / f"{name}.json").read_text("utf-8"))
        assert _compiled(json.loads(json.dumps(built))) == _compiled(committed)
