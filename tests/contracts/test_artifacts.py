"""The committed artifacts are what the sources compile to, and load by name."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

import forcemove.contracts.compiler as generic
import scripts.compile_contracts as compiler
from forcemove.contracts import UnknownArtifact, artifact, artifact_names
from forcemove.contracts.compiler import (
    SETTINGS,
    SOLC_VERSION,
    Compiled,
    artifact_json,
    compile_standard_json,
    source_hash,
)
from forcemove.protocol.hashing import keccak256
from tests.expected import raising
from tests.installed import CONTRACTS

EXTRA = compiler.standard_json(compiler.extra_sources())
"""What the contracts of demonstrations and tests are compiled from."""
SOME_OF_TESTS = (
    "contracts/test/BoundApp.sol",
    "contracts/test/CountingApp.sol",
    "contracts/test/HostileApps.sol",
    "contracts/testing/GameHarness.sol",
)
"""Sources that the compiler is quick with."""


def _committed_output(given: Mapping[str, Any]) -> Compiled | None:
    """What the compiler said for exactly these sources, if committed artifacts were made of them."""
    digest = source_hash(given)
    contracts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for content in (json.loads(path.read_text("utf-8")) for path in compiler.ARTIFACTS.rglob("*.json")):
        if content["sourceHash"] == digest:
            references = [dict(zip(("start", "length"), each, strict=True)) for each in content["immutableReferences"]]
            runtime = {"object": content["runtimeBytecode"][2:], "immutableReferences": {"all": references}}
            evm = {"bytecode": {"object": content["bytecode"][2:]}, "deployedBytecode": runtime}
            contracts[content["sourceName"]][content["contractName"]] = {"abi": content["abi"], "evm": evm}
    return Compiled(contracts, ()) if contracts else None


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Every generated file: its text by its path. What has changed is compiled afresh. What has not is, too, but
    elsewhere and once: `test_creation_codes` compiles the product, with other comments, and compares all that the
    compiler says; the contracts of demonstrations and tests are compiled below."""
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


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(SOME_OF_TESTS, id="some"),
        pytest.param(tuple(EXTRA["settings"]["outputSelection"]), id="all", marks=pytest.mark.long),
    ],
)
def test_the_contracts_of_tests_are_what_their_sources_compile_to(sources: tuple[str, ...]) -> None:
    """All are compiled at once; the code of some is asked for, which is what takes long."""
    wanted = {name: EXTRA["settings"]["outputSelection"][name] for name in sources}
    compiled = compile_standard_json(
        EXTRA | {"settings": EXTRA["settings"] | {"outputSelection": wanted}}, compiler.CONTRACTS
    )

    assert [said for file, said in compiled.warnings if file.startswith("contracts/")] == []
    committed = [json.loads(path.read_text("utf-8")) for path in compiler.ARTIFACTS.glob("*/*.json")]
    for content in (each for each in committed if each["sourceName"] in sources):
        name, source = content["contractName"], content["sourceName"]
        afresh = artifact_json(name, source, EXTRA, compiled.contracts[source][name])
        del afresh["standardJson"]
        assert json.loads(json.dumps(afresh)) == content
    assert {content["sourceName"] for content in committed} >= set(sources)


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
    with raising(UnknownArtifact(name, artifact_names())):
        artifact(name)
