"""The journals of a demonstration: one run at a time has them, and they go when nothing is left in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove.demo.errors import AlreadyPlaying
from forcemove.demo.unfinished import journal_path, opened_journals, unfinished
from forcemove.errors import JournalError
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.store.journal import Journal
from forcemove.store.records import Account, Batch, ChannelUpdate
from forcemove_games.tic_tac_toe import GAME
from tests.protocol.builders import PLAYERS
from tests.protocol.table import agreement_for

ACCOUNT = Account(31337, PLAYERS[0].address)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "forcemove-31337.json"


def begin(journal: Journal, seat: int, block: int = 7, nonce: int = 0) -> bytes:
    """A channel between Alice and Bob."""
    agreement = agreement_for(GAME, nonce=nonce)
    about = ChannelMetadata(GAME.artifact.name, block, bytes(20), 1, b"\x07" * 32)
    journal.commit(
        Batch(
            (ChannelUpdate(agreement.channel_id, 0, CHANNELS.encode(Channel(agreement, seat)), METADATA.encode(about)),)
        )
    )
    return agreement.channel_id


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_run_finds_what_both_players_have_the_oldest_first(book: Path) -> None:
    with opened_journals(book, ACCOUNT, 2) as journals:
        later = [begin(journals[seat], seat, 9, 1) for seat in range(2)]
        earlier = begin(journals[1], 1, 8, 2)
    assert files(book.parent) == [journal_path(book, ACCOUNT.address, seat).name for seat in range(2)]
    with opened_journals(book, ACCOUNT, 1) as again:
        first, second = unfinished(again, [GAME])
    assert ([first[0].id], [each.id for each in second]) == ([earlier], later)
    assert [each.channel.index for each in second] == [0, 1]
    assert second[0].game is GAME


def test_the_files_go_where_no_channel_is_open(book: Path) -> None:
    with opened_journals(book, ACCOUNT, 2):
        assert len(files(book.parent)) >= 2
    assert files(book.parent) == []


def test_one_run_at_a_time(book: Path) -> None:
    with opened_journals(book, ACCOUNT, 1) as (first,):
        begin(first, 0)
        with pytest.raises(AlreadyPlaying), opened_journals(book, ACCOUNT, 1):
            pass
    with opened_journals(book, ACCOUNT, 1):
        pass


def test_a_damaged_journal_is_refused_and_left_alone(book: Path) -> None:
    path = journal_path(book, ACCOUNT.address, 0)
    path.write_bytes(b"something else")
    with pytest.raises(JournalError), opened_journals(book, ACCOUNT, 1):
        pass
    assert path.read_bytes() == b"something else"
