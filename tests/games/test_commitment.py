"""Commitments: golden bytes, and salts that nobody has seen before."""

from __future__ import annotations

import pytest

from forcemove.errors import InvalidValue, MalformedBytes
from forcemove_games.commitment import Opening, commit
from forcemove_games.rock_paper_scissors.position import Weapon

GOLDEN = bytes.fromhex("f5cafdccc1599ae1d89b67782e35207b00705758e1d33365035bda45562f9663")


def test_the_golden_commitment() -> None:
    assert commit(0, b"\x44" * 32) == GOLDEN
    assert Opening(0, b"\x44" * 32).commitment == GOLDEN
    assert Opening(Weapon.ROCK, b"\x44" * 32).commitment == GOLDEN


def test_a_fresh_opening_takes_32_bytes_from_its_source_and_no_fewer() -> None:
    asked = []

    def source(count: int) -> bytes:
        asked.append(count)
        return b"\x07" * count

    assert Opening.fresh(2, source) == Opening(2, b"\x07" * 32)
    assert asked == [32]


def test_a_thousand_fresh_openings_share_no_salt() -> None:
    assert len({Opening.fresh(1).salt for _ in range(1_000)}) == 1_000


def test_an_opening_does_not_show_its_secrets() -> None:
    assert repr(Opening(2, b"\x07" * 32)) == "Opening()"


def test_decoding_inverts_encoding() -> None:
    opening = Opening(2**256 - 1, bytes(range(32)))
    assert Opening.decode(opening.encode()) == opening


@pytest.mark.parametrize("length", [0, 63, 65])
def test_bytes_of_another_length_are_no_opening(length: int) -> None:
    with pytest.raises(MalformedBytes):
        Opening.decode(bytes(length))


@pytest.mark.parametrize(("choice", "salt"), [(-1, bytes(32)), (2**256, bytes(32)), (0, bytes(31))])
def test_what_does_not_fit_is_refused(choice: int, salt: bytes) -> None:
    with pytest.raises(InvalidValue):
        Opening(choice, salt)
