"""Every proof holds about the committed creation code, and its false twin does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.symbolic import building, running
from tests.symbolic.proofs import PROOFS, Proof

BY_NAME = pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
Folder = Callable[[str], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder with the proofs in a source about what is deployed, compiled once."""

    @cache
    def built(source: str) -> Path:
        place = tmp_path_factory.mktemp("proofs")
        building.build(place, source, building.committed_codes())
        return place

    return built


@pytest.mark.long
@BY_NAME
def test_it_is_proved(folder: Folder, proof: Proof) -> None:
    assert _run(folder, proof, proof.name).proved


@pytest.mark.long
@BY_NAME
def test_what_is_false_of_the_same_events_is_refuted(folder: Folder, proof: Proof) -> None:
    assert not _run(folder, proof, proof.twin).proved


def test_every_proof_that_is_written_is_in_the_table() -> None:
    texts = [(building.PROOFS / source).read_text("utf-8") for source in {proof.source for proof in PROOFS}]
    written = [name for text in texts for name in re.findall(r"function (check_\w+)\(", text)]
    assert sorted(written) == sorted(name for proof in PROOFS for name in (proof.name, proof.twin))


def _run(folder: Folder, proof: Proof, function: str) -> running.Verdict:
    verdict = running.run(folder(proof.source), proof, function)
    print(f"{function}: {verdict.paths} paths, {verdict.seconds:.1f} s")
    return verdict
