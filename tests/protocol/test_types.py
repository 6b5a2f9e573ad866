"""If a plain value exists, it is valid."""

from __future__ import annotations

import pytest

from forcemove.errors import InvalidValue
from forcemove.protocol import rule_errors
from forcemove.protocol.types import UINT48_MAX, ZERO_ADDRESS, FixedPart, Signature, require_bytes, require_uint
from tests.expected import raising
from tests.protocol.builders import ALICE, APP, BOB, CAROL, DAY, fixed_part, players


@pytest.mark.parametrize("value", [0, 1, 255])
def test_numbers_within_their_width_are_taken(value: int) -> None:
    require_uint("field", value, 255)


@pytest.mark.parametrize("value", [-1, 256, True, 1.0, "1", None])
def test_other_numbers_are_refused(value: object) -> None:
    with pytest.raises(InvalidValue) as caught:
        require_uint("field", value, 255)  # type: ignore[arg-type]  # what the annotation cannot keep out
    assert caught.value.field == "field"


@pytest.mark.parametrize("value", [b"", bytes(19), bytes(21), bytearray(20), "0" * 20])
def test_bytes_of_another_length_or_type_are_refused(value: object) -> None:
    with pytest.raises(InvalidValue):
        require_bytes("field", value, 20)  # type: ignore[arg-type]  # what the annotation cannot keep out


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_has_64_bytes(length: int) -> None:
    with pytest.raises(InvalidValue):
        Signature(bytes(length))


def test_a_signature_is_r_then_vs() -> None:
    signature = Signature(b"r" * 32 + b"s" * 32)
    assert (signature.r, signature.vs) == (b"r" * 32, b"s" * 32)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_channel_has_2_to_32_participants(count: int) -> None:
    with raising(rule_errors.ParticipantCountOutOfRange(count)):
        fixed_part(players(count))


@pytest.mark.parametrize("count", [2, 8])
def test_the_bounds_on_participants_are_included(count: int) -> None:
    assert len(fixed_part(players(count)).participants) == count


def test_the_zero_address_is_no_participant() -> None:
    with raising(rule_errors.ZeroParticipant(1)):
        FixedPart((ALICE.address, ZERO_ADDRESS), 0, APP, DAY)


def test_participants_are_distinct() -> None:
    with raising(rule_errors.DuplicateParticipant(1, 3)):
        fixed_part((ALICE, BOB, CAROL, BOB))


@pytest.mark.parametrize("duration", [0, 59, 31_536_001, UINT48_MAX])
def test_a_challenge_lasts_60_seconds_to_365_days(duration: int) -> None:
    with raising(rule_errors.ChallengeDurationOutOfRange(duration)):
        fixed_part(duration=duration)


@pytest.mark.parametrize("duration", [60, 31_536_000])
def test_the_bounds_on_the_duration_are_included(duration: int) -> None:
    assert fixed_part(duration=duration).challenge_duration == duration


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"participants": [ALICE.address, BOB.address]}, "participants"),
        ({"participants": (ALICE.address, b"short")}, "participants"),
        ({"channel_nonce": 2**64}, "channel_nonce"),
        ({"app_definition": bytes(32)}, "app_definition"),
        ({"challenge_duration": 2**48}, "challenge_duration"),
    ],
)
def test_fields_have_soliditys_types(changed: dict[str, object], field: str) -> None:
    values: dict[str, object] = {
        "participants": (ALICE.address, BOB.address),
        "channel_nonce": 0,
        "app_definition": APP,
        "challenge_duration": DAY,
    }
    with pytest.raises(InvalidValue) as caught:
        FixedPart(**values | changed)  # type: ignore[arg-type]  # what the annotations cannot keep out
    assert caught.value.field == field


def test_participants_move_in_turn() -> None:
    channel = fixed_part(players(3))
    assert [channel.mover(turn) for turn in range(7)] == [0, 1, 2, 0, 1, 2, 0]
