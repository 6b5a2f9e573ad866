"""A channel in a few values says of the channel what the channel itself says, and survives as bytes."""

from __future__ import annotations

import pytest
from msgspec import msgpack
from msgspec.structs import replace

from forcemove.history import summary as module
from forcemove.history.summary import pack_present, pack_profile, summarise, unpack_summary
from forcemove.history.tokens import TokenFacts
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.record import Record
from forcemove.protocol.machine.results import result_of
from forcemove.protocol.words import Status
from tests.protocol.table import DEPOSIT, open_table

NOW = 1_800_000_000


def channel(until: int = 5) -> Channel:
    return open_table(until=until).seats[0].channel


def test_a_summary_says_what_the_channel_says() -> None:
    played = channel()
    found = summarise(played, "TicTacToe", 7, 9, NOW)
    assert (found.app, found.begun_at, found.changed_at) == ("TicTacToe", 7, 9)
    assert (found.phase, found.turn_num, found.is_our_turn) == (Phase.PLAYING, 5, True)
    assert found.participants == played.agreement.fixed_part.participants
    assert found.others == (("", found.participants[1]),)
    assert found.held == ((bytes(20), 2 * DEPOSIT),)
    assert (found.result, found.is_timed, found.is_friendly) == (None, False, False)
    ended = replace(played, final_outcome=bytes(32))
    assert not summarise(ended, "TicTacToe", 7, 9, NOW).is_our_turn


@pytest.mark.parametrize("amount", [1, 2**256 - 1])
def test_a_summary_survives_as_bytes(amount: int) -> None:
    played = replace(channel(), holdings=((bytes(20), amount),))
    for each in (played, replace(played, record=replace(played.record, closed=True)), replace(played, accepted=())):
        found = summarise(each, "TicTacToe", 7, 9, NOW)
        assert unpack_summary(pack_profile(found), pack_present(found)) == found


def test_the_tokens_of_a_summary_survive_as_bytes() -> None:
    tokens = (TokenFacts(b"\xa0" * 20, "USDC", 6),)
    found = summarise(channel(), "TicTacToe", 7, 9, NOW, tokens)
    assert found.tokens == tokens
    assert unpack_summary(pack_profile(found), pack_present(found)) == found


def test_a_profile_of_a_program_that_knew_no_tokens_is_read() -> None:
    """Such a profile has eight values."""
    found = summarise(channel(), "TicTacToe", 7, 9, NOW)
    written = msgpack.decode(pack_profile(found))
    assert unpack_summary(msgpack.encode(written[:8]), pack_present(found)) == found


def test_a_channel_that_is_over_has_its_result() -> None:
    played = channel()
    over = replace(played, record=replace(played.record, closed=True))
    assert summarise(over, "TicTacToe", 7, 9, NOW).result == result_of(over, NOW)


def test_a_channel_with_a_clock_is_to_be_asked_itself() -> None:
    played = channel()
    record: Record = replace(played.record, status=Status(5, NOW + 60, 1))
    challenged = replace(played, record=record)
    assert summarise(challenged, "TicTacToe", 7, 9, NOW).is_timed
    closed = replace(challenged, record=replace(record, closed=True))
    assert not summarise(closed, "TicTacToe", 7, 9, NOW).is_timed


def test_what_another_program_has_written_is_no_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    found = summarise(channel(), "TicTacToe", 7, 9, NOW)
    profile, present = pack_profile(found), pack_present(found)
    assert unpack_summary(b"nonsense", present) is None
    assert unpack_summary(profile, profile) is None
    assert unpack_summary(profile, present.replace(b"PLAYING", b"WAITING")) is None
    assert unpack_summary(profile, present) == found
    assert unpack_summary(profile, present.replace(b"\x9a\x02", b"\x9a\x01", 1)) is None
    monkeypatch.setattr(module, "_VERSION", 3)
    assert unpack_summary(profile, present) is None
