"""A contract's artifact as a file: what comes with a game is read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forcemove.artifact import load_artifact, parse_artifact
from forcemove.contracts import artifact
from forcemove.errors import MalformedBytes
from scripts.compile_contracts import ARTIFACTS

FILE = ARTIFACTS / "Adjudicator.json"


def spoilt(change: Callable[[dict[str, Any]], object]) -> str:
    content = json.loads(FILE.read_text("utf-8"))
    change(content)
    return json.dumps(content)


def test_an_artifact_is_read_from_a_file_of_any_package() -> None:
    loaded, known = load_artifact(FILE), artifact("Adjudicator")

    assert (loaded.name, loaded.bytecode, loaded.abi) == (known.name, known.bytecode, known.abi)
    assert loaded.standard_json is not None
    assert loaded.source_name in loaded.standard_json["sources"]


def test_an_artifact_may_come_without_its_sources() -> None:
    assert parse_artifact(spoilt(lambda content: content.pop("standardJson"))).standard_json is None


_WANTED = [name for name in json.loads(FILE.read_text("utf-8")) if name != "standardJson"]


@pytest.mark.parametrize("name", _WANTED)
@pytest.mark.parametrize("wrong", [None, 7, "text", "0x0"])
def test_each_field_is_wanted_and_has_its_type(name: str, wrong: object) -> None:
    with pytest.raises(MalformedBytes):
        parse_artifact(spoilt(lambda content: content.pop(name)))
    if (name, wrong) in {("contractName", "text"), ("sourceName", "text"), ("sourceName", "0x0")}:
        return
    with pytest.raises(MalformedBytes):
        parse_artifact(spoilt(lambda content: content.update({name: wrong})))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7"])
def test_what_is_no_artifact_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        parse_artifact(text)


@pytest.mark.parametrize("name", ["", "../Adjudicator", "CREATE2 factory", "a-b"])
def test_a_name_that_no_contract_has_is_refused(name: str) -> None:
    """It becomes a part of file names, and stands beside others in address books."""
    with pytest.raises(MalformedBytes):
        parse_artifact(spoilt(lambda content: content.update(contractName=name)))


def test_other_creation_code_than_its_hash_says_is_refused() -> None:
    """Clients sign for the address that follows from the hash."""
    with pytest.raises(MalformedBytes, match="does not have the hash"):
        parse_artifact(spoilt(lambda content: content.update(bytecode=content["bytecode"] + "00")))


def test_a_missing_file_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_artifact(tmp_path / "none.json")
