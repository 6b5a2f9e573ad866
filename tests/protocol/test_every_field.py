"""Each field of what is signed is in everything that is made of it: one that is left out could be changed unnoticed.
Who adds a field gives it another value here, and sees which encoding does not know it yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from forcemove import Allocation, FixedPart, InvalidValue
from forcemove.history.entries import StateSigned
from forcemove.history.packing import pack
from forcemove.inspect.bare import inspect_bytes
from forcemove.inspect.report_json import report_document
from forcemove.protocol import encoding
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.codec.wire import SignedStateFile, decode_file, decode_message, encode_file, encode_message
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from tests.protocol.builders import ALICE, CAROL, DOMAIN, NO_SIGNATURE, TOKEN, fixed_part, sign, state

FIXED, STATE = fixed_part(), state()
ID = encoding.channel_id(FIXED, DOMAIN)
OTHERS: dict[type, dict[str, Any]] = {
    FixedPart: {
        "participants": (ALICE.address, CAROL.address),
        "channel_nonce": 1,
        "app_definition": bytes.fromhex("b0" * 20),
        "challenge_duration": FIXED.challenge_duration + 1,
        "asset": TOKEN,
        "total": FIXED.total + 1,
    },
    VariablePart: {
        "outcome": STATE.outcome[:1],
        "app_data": b"another position",
        "turn_num": STATE.turn_num + 1,
        "is_final": True,
        "evidence": b"why it was right",
    },
    Allocation: {"asset": TOKEN, "destination": bytes([7]) * 32, "amount": 2**255},
}
"""Of each field another value than that of the examples."""
HASHED = replace(STATE, evidence=b"why it was right, in more bytes than its hash").with_hashed_evidence()


def calldata(fixed: FixedPart, signed: VariablePart) -> bytes:
    """Of a checkpoint. Its signature stays the same, so that it does not change in a field's place."""
    return checkpoint_call(fixed, SupportProof((signed,), (NO_SIGNATURE,) * len(fixed.participants), 0))


def of_fixed_part(fixed: FixedPart) -> dict[str, object]:
    """What is made of it, by name."""
    file = SignedStateFile(DOMAIN, fixed, SignedState(STATE))
    return {
        "hash": encoding.channel_id(fixed, DOMAIN),
        "calldata": calldata(fixed, STATE),
        "snapshot": Codec[FixedPart]("fixed part", FixedPart).encode(fixed),
        "file": encode_file(file),
    }


def of_state(signed: VariablePart) -> dict[str, object]:
    """What is made of it, by name."""
    record = encoding.encode_record(signed, [NO_SIGNATURE])
    return {
        "hash": encoding.hash_state(ID, signed).state,
        "signature": sign(ALICE, signed),
        "calldata": calldata(FIXED, signed),
        "wire": encode_message(ID, SignedState(signed)),
        "record": record,
        "app's calldata": encoding.encode_variable_part(signed),
        "snapshot": Codec[VariablePart]("state", VariablePart).encode(signed),
        "file": encode_file(SignedStateFile(DOMAIN, FIXED, SignedState(signed))),
        "report": to_builtins(report_document(inspect_bytes(encoding.encode_variable_part(signed), ())))["state"],
    }


def of_allocation(allocation: Allocation) -> dict[str, object]:
    """What is made of a state that has it."""
    return of_state(replace(STATE, outcome=(allocation, *STATE.outcome[1:])))


EXAMPLES: tuple[tuple[Any, Callable[[Any], dict[str, object]]], ...] = (
    (FIXED, of_fixed_part),
    (STATE, of_state),
    (STATE.outcome[0], of_allocation),
)
FIELDS = [
    pytest.param(example, made, each.name, id=f"{type(example).__name__}.{each.name}")
    for example, made in EXAMPLES
    for each in msgspec.structs.fields(example)
    if each.name != "evidence_hash"
]


@pytest.mark.parametrize(("example", "made", "field"), FIELDS)
def test_a_field_is_in_whatever_is_made_of_it(
    example: Any, made: Callable[[Any], dict[str, object]], field: str
) -> None:
    changed = replace(example, **{field: OTHERS[type(example)][field]})
    before, after = made(example), made(changed)
    assert [name for name in before if before[name] == after[name]] == []


def test_where_the_hash_of_the_evidence_is_enough() -> None:
    """What is made of such a state is what is made of the whole one, but for what keeps the state itself."""
    whole = replace(STATE, evidence=b"why it was right, in more bytes than its hash")
    assert encoding.hash_state(ID, HASHED) == encoding.hash_state(ID, whole)
    last = state(STATE.turn_num + 1)
    made = [checkpoint_call(FIXED, SupportProof((first, last), (NO_SIGNATURE,), 0)) for first in (HASHED, whole)]
    assert made[0] == made[1]
    codec = Codec[VariablePart]("state", VariablePart)
    assert codec.decode(codec.encode(HASHED)) == HASHED != codec.decode(codec.encode(whole))


NEED_THE_EVIDENCE: dict[str, Callable[[VariablePart], object]] = {
    "wire": lambda state_: encode_message(ID, SignedState(state_)),
    "record": lambda state_: encoding.encode_record(state_, ()),
    "app's calldata": encoding.encode_variable_part,
    "calldata": lambda state_: checkpoint_call(FIXED, SupportProof((state_,), (NO_SIGNATURE,) * 2, 0)),
    "file": lambda state_: encode_file(SignedStateFile(DOMAIN, FIXED, SignedState(state_))),
    "history": lambda state_: pack((StateSigned(0, SignedState(state_)),)),
}


@pytest.mark.parametrize("name", NEED_THE_EVIDENCE)
def test_where_the_hash_of_the_evidence_is_not_enough(name: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        NEED_THE_EVIDENCE[name](HASHED)
    assert caught.value.field == "evidence"


@pytest.mark.parametrize("field", OTHERS[VariablePart])
def test_a_states_field_comes_back_from_all_that_is_decoded(field: str) -> None:
    changed = replace(STATE, **{field: OTHERS[VariablePart][field]})
    wanted = SignedState(changed)
    (_, heard), file = decode_message(encode_message(ID, wanted)), SignedStateFile(DOMAIN, FIXED, wanted)
    assert getattr(heard, "signed", None) == wanted
    assert decode_file(encode_file(file)) == file
    assert encoding.decode_variable_part(encoding.encode_variable_part(changed)) == changed
    assert encoding.decode_record(encoding.encode_record(changed, [NO_SIGNATURE])) == (changed, (NO_SIGNATURE,))


@pytest.mark.parametrize("field", OTHERS[FixedPart])
def test_a_fixed_parts_field_comes_back_from_a_file(field: str) -> None:
    file = SignedStateFile(DOMAIN, replace(FIXED, **{field: OTHERS[FixedPart][field]}), SignedState(STATE))
    assert decode_file(encode_file(file)) == file
