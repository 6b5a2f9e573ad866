"""States and their signatures as values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove.errors import InvalidValue
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from tests.protocol.builders import ALICE, BOB, outcome, sign, signed, state


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((list(outcome()), b"", 0, False), "outcome"),
        (((1,), b"", 0, False), "outcome"),
        ((outcome(), bytearray(), 0, False), "app_data"),
        ((outcome(), b"", 2**48, False), "turn_num"),
        ((outcome(), b"", -1, False), "turn_num"),
        ((outcome(), b"", 0, 1), "is_final"),
        ((outcome(), b"", 0, False, bytearray()), "evidence"),
        ((outcome(), b"", 0, False, b"", bytes(31)), "evidence_hash"),
        ((outcome(), b"", 0, False, b"", bytearray(32)), "evidence_hash"),
        ((outcome(), b"", 0, False, b"why", bytes(32)), "evidence_hash"),
        ((outcome(), b"", 0, True, b"", bytes(32)), "evidence_hash"),
    ],
)
def test_a_state_has_soliditys_types(values: tuple[object, ...], field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VariablePart(*values)  # type: ignore[arg-type]  # what the annotations cannot keep out
    assert caught.value.field == field


def test_states_are_equal_by_value() -> None:
    assert state(5) == state(5)
    assert hash(state(5)) == hash(state(5))
    assert state(5) != state(6)


def test_evidence_is_known_itself_or_by_its_hash() -> None:
    whole = replace(state(), evidence=b"why")
    hashed = whole.with_hashed_evidence()
    assert (hashed.evidence, hashed.evidence_hash) == (b"", keccak256(b"why"))
    assert hashed.with_hashed_evidence() == hashed
    assert state().with_hashed_evidence() == state()
    assert whole.full_evidence() == b"why"
    assert state().full_evidence() == b""
    with pytest.raises(InvalidValue):
        hashed.full_evidence()


def test_signatures_are_added_to_a_copy() -> None:
    by_alice = signed(state(), ALICE)
    by_both = by_alice.with_signature(1, sign(BOB, state()))
    assert set(by_alice.signatures) == {0}
    assert by_both == signed(state(), ALICE, BOB)
    assert hash(by_both) == hash(signed(state(), ALICE, BOB))


def test_signatures_cannot_be_changed_in_place() -> None:
    mine = {0: sign(ALICE, state())}
    value = SignedState(state(), mine)
    mine.clear()
    assert set(value.signatures) == {0}
    with pytest.raises(TypeError):
        value.signatures[1] = sign(BOB, state())  # type: ignore[index]  # that is the point


@pytest.mark.parametrize("signatures", [{"0": sign(ALICE, state())}, {0: b"raw"}])
def test_signatures_are_by_participant(signatures: dict[object, object]) -> None:
    with pytest.raises(InvalidValue):
        SignedState(state(), signatures)  # type: ignore[arg-type]  # what the annotations cannot keep out


def test_a_proof_is_of_its_last_state() -> None:
    assert SupportProof((state(5), state(6)), (), 0).last == state(6)
