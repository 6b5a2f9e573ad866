"""Random proofs, written by Python: the bytecode reads the channel, the states, who has signed which, and the
signatures that were written. The other way round, Python reads the vectors (`tests/contracts`)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.protocol.encoding import channel_id, hash_state, word
from forcemove.protocol.types import FixedPart, SupportProof
from tests.parity import core_abi as abi
from tests.parity.core_harness import Harness
from tests.protocol.calls import fixed_parts, proofs

HARNESS = Harness("ProofHarness")
LEAST = 5
"""Of proofs of one channel."""


def written(fixed: FixedPart, proof: SupportProof) -> bytes:
    """What the harness has to give back, as the ABI encodes it."""
    id_ = channel_id(fixed, HARNESS.domain)
    is_from_record = len(proof.signatures) < len(fixed.participants)
    hashes = [hash_state(id_, state).state for state in proof.states]
    is_said = len(proof.states) > 1 and not is_from_record
    signed = proof.signed_states.to_bytes(len(fixed.participants), "little") if is_said else b""
    return abi.arguments(
        id_,
        word(is_from_record),
        abi.numbers([int.from_bytes(each) for each in hashes]),
        abi.text(signed),
        abi.text(b"".join(signature.compact for signature in proof.signatures)),
    )


@st.composite
def some_proofs(draw: st.DrawFn) -> tuple[FixedPart, Sequence[SupportProof]]:
    fixed = draw(fixed_parts())
    return fixed, draw(st.lists(proofs(fixed), min_size=LEAST, max_size=2 * LEAST))


@pytest.mark.parametrize("least", [200, pytest.param(100_000, marks=pytest.mark.long)])
def test_the_bytecode_reads_what_was_written(least: int) -> None:
    count = 0

    @settings(max_examples=least // LEAST)
    @given(some_proofs())
    def read_some(given: tuple[FixedPart, Sequence[SupportProof]]) -> None:
        nonlocal count
        fixed, some = given
        for proof in some:
            assert HARNESS.read(fixed, proof) == (True, written(fixed, proof))
            count += 1

    read_some()
    assert count >= least
