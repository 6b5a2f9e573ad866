"""The committed artifacts are what the sources compile to, and load by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

import forcemove.contracts.compile as compiler
import forcemove.contracts.compiler as generic
from forcemove.channel.protocol.hashing import keccak256
from forcemove.contracts import UnknownArtifact, artifact, artifact_names
from forcemove.contracts.compiler import SETTINGS, SOLC_VERSION, Compiled, compile_standard_json, source_hash
from tests.installed import CONTRACTS


def _committed_output(given: Mapping[str, Any]) -> Compiled | None:
    """What the compiler said for exactly these sources, if a committed artifact of the product was made of them."""
    digest = source_hash(given)
    for content in (json.loads(path.read_text("utf-8")) for path in compiler.ARTIFACTS.glob("*.json")):
        if content["sourceHash"] == digest:
            references = [dict(zip(("start", "length"), each, strict=True)) for each in content["immutableReferences"]]
            runtime = {"object": content["runtimeBytecode"][2:], "immutableReferences": {"all": references}}
            evm = {"bytecode": {"object": content["bytecode"][2:]}, "deployedBytecode": runtime}
            output = {"abi": content["abi"], "evm": evm}
            return Compiled({content["sourceName"]: {content["contractName"]: output}}, ())
    return None


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Every generated file: its text by its path. The contracts of demonstrations and tests are compiled afresh through
    py-solc-x; so is the product where its sources have changed. Where they have not, `test_creation_codes` compiles
    them, with other comments, and compares all that the compiler says; twice would take half a minute more."""
    afresh = compile_standard_json
    monkeypatch.setattr(
        generic, "compile_standard_json", lambda given, folder: _committed_output(given) or afresh(given, folder)
    )
    return {str(path.relative_to(compiler.ARTIFACTS)): text for path, text in compiler.build_files().items()}


def test_the_artifacts_are_what_the_sources_compile_to(built: dict[str, str]) -> None:
    paths = list(compiler.ARTIFACTS.rglob("*.json"))
    committed = {str(path.relative_to(compiler.ARTIFACTS)): path.read_text("utf-8") for path in paths}

    assert sorted(committed) == sorted(built)
    assert [name for name in built if committed[name] != built[name]] == []


def test_a_changed_source_would_show() -> None:
    given = json.loads(artifact("Adjudicator").standard_json_text or "")
    before = source_hash(given)
    given["sources"]["contracts/Adjudicator.sol"]["content"] += " "

    assert source_hash(given) != before == artifact("Adjudicator").source_hash.hex()


@pytest.mark.parametrize("name", [*artifact_names(), "CountingApp", "TestToken"])
def test_an_artifact_is_loaded_by_its_name(name: str) -> None:
    loaded = artifact(name)

    assert loaded.name == name
    assert loaded.bytecode
    assert loaded.creation_code_hash == keccak256(loaded.bytecode)
    assert loaded.compiler_version == SOLC_VERSION
    assert loaded.compiler_settings == SETTINGS
    assert loaded is artifact(name)


def test_the_product_is_the_adjudicator_and_the_games() -> None:
    assert set(artifact_names()) == set(CONTRACTS)


def test_what_is_deployed_fits_the_chains_limit() -> None:
    assert max(len(artifact(name).runtime_bytecode) for name in artifact_names()) <= 24_576


@pytest.mark.parametrize("name", artifact_names())
def test_the_standard_json_of_a_contract_is_what_it_was_compiled_from(name: str) -> None:
    given = json.loads(artifact(name).standard_json_text or "")

    assert source_hash(given) == artifact(name).source_hash.hex()
    assert artifact(name).source_name in given["sources"]


def test_the_contracts_of_tests_come_without_a_standard_json() -> None:
    assert (artifact("CountingApp").standard_json, artifact("CountingApp").standard_json_text) == (None, None)


@pytest.mark.parametrize("name", ["", "Chess", "../Adjudicator", "test/CountingApp", "adjudicator"])
def test_an_unknown_name_is_told_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownArtifact) as caught:
        artifact(name)

    assert caught.value == UnknownArtifact(name, artifact_names())
