"""A contract with a fault is not proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.symbolic import building, running
from tests.symbolic.building import CodeNotCommitted
from tests.symbolic.faults import FAULTS, Fault, FaultMisplaced, changed_sources, faulty_codes
from tests.symbolic.proofs import PROOFS

PROOF = {proof.name: proof for proof in PROOFS}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(tmp_path: Path, fault: Fault) -> None:
    proof, codes = PROOF[fault.proof], faulty_codes(fault)
    with pytest.raises(CodeNotCommitted):
        building.require_committed(codes)
    building.build(tmp_path, proof.source, codes, faulty=True)
    assert not running.run(tmp_path, proof, proof.name).proved


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_its_place_in_the_source(fault: Fault) -> None:
    _, given = changed_sources(fault)
    assert fault.find not in given["sources"][f"contracts/{fault.path}"]["content"]


def test_a_fault_that_is_not_in_the_source_is_refused() -> None:
    with pytest.raises(FaultMisplaced) as misplaced:
        faulty_codes(replace(FAULTS[0], find="no such text"))
    assert misplaced.value.times == 0


def test_a_fault_that_could_be_in_two_places_is_refused() -> None:
    with pytest.raises(FaultMisplaced) as misplaced:
        faulty_codes(replace(FAULTS[0], find="revert "))
    assert misplaced.value.times > 1
