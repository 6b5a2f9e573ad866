"""Every proof holds about the committed creation code, and its false twin does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.symbolic import building, running
from tests.symbolic.proofs import PROOFS, Proof

BY_NAME = pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With all proofs about what is deployed, compiled."""
    folder = tmp_path_factory.mktemp("proofs")
    for source in sorted({proof.source for proof in PROOFS}):
        building.build(folder, source, building.committed_codes())
    return folder


@pytest.mark.long
@BY_NAME
def test_it_is_proved(folder: Path, proof: Proof) -> None:
    assert _run(folder, proof, proof.name).proved


@pytest.mark.long
@BY_NAME
def test_what_is_false_of_the_same_events_is_refuted(folder: Path, proof: Proof) -> None:
    assert not _run(folder, proof, proof.twin).proved


def _run(folder: Path, proof: Proof, function: str) -> running.Verdict:
    verdict = running.run(folder, proof.contract, function, loop=proof.loop, limit=proof.limit)
    print(f"{function}: {verdict.paths} paths, {verdict.seconds:.1f} s")
    return verdict
