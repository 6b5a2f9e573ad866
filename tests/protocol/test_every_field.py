"""Each field of what is signed is in everything that is made of it: one that is left out could be changed unnoticed.
Who adds a field gives it another value here, and sees which encoding does not know it yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from forcemove import Allocation, FixedPart
from forcemove.chain.codec import fixed_part_values, function, proof_values
from forcemove.inspect.bare import inspect_bytes
from forcemove.inspect.report_json import report_document
from forcemove.protocol import encoding
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.codec.wire import SignedStateFile, decode_file, decode_message, encode_file, encode_message
from forcemove.protocol.state import SignedState, SupportProof, VariablePart
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


def calldata(fixed: FixedPart, signed: VariablePart) -> bytes:
    """Of a checkpoint. Its signature stays the same, so that it does not change in a field's place."""
    values = proof_values(SupportProof((signed,), (NO_SIGNATURE,), 0))
    return function("checkpoint").encode(fixed_part_values(fixed), *values)


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
]


@pytest.mark.parametrize(("example", "made", "field"), FIELDS)
def test_a_field_is_in_whatever_is_made_of_it(
    example: Any, made: Callable[[Any], dict[str, object]], field: str
) -> None:
    changed = replace(example, **{field: OTHERS[type(example)][field]})
    before, after = made(example), made(changed)
    assert [name for name in before if before[name] == after[name]] == []


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
