"""The journals of a demonstration: one run at a time has them, and they go when nothing is left in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove.demo.errors import AlreadyPlaying
from forcemove.demo.journals import Journals, journal_path
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


def test_the_next_run_finds_what_both_players_have(book: Path) -> None:
    with Journals(book, ACCOUNT) as journals:
        ids = [begin(journals.of(seat), seat) for seat in range(2)]
    assert files(book.parent) == [journal_path(book, ACCOUNT.address, seat).name for seat in range(2)]
    with Journals(book, ACCOUNT, [GAME]) as again:
        (left,) = again.channels
        assert {left.agreement.channel_id} == set(ids)
        assert [left.seats[seat].channel.index for seat in range(2)] == [0, 1]
        assert left.first.game is GAME


def test_the_oldest_comes_first(book: Path) -> None:
    with Journals(book, ACCOUNT) as journals:
        later, earlier = begin(journals.of(0), 0, 9, 1), begin(journals.of(1), 1, 8, 2)
        assert [left.agreement.channel_id for left in journals.channels] == [earlier, later]


def test_the_files_go_with_the_last_channel(book: Path) -> None:
    with Journals(book, ACCOUNT) as journals:
        id_, _ = (begin(journals.of(seat), seat) for seat in range(2))
        journals.finish(id_)
        assert journals.channels == ()
    assert files(book.parent) == []


def test_nothing_is_written_before_there_is_something_to_keep(book: Path) -> None:
    with Journals(book, ACCOUNT) as journals:
        assert journals.channels == ()
    assert files(book.parent) == []


def test_one_run_at_a_time(book: Path) -> None:
    with Journals(book, ACCOUNT) as first:
        begin(first.of(0), 0)
        with pytest.raises(AlreadyPlaying):
            Journals(book, ACCOUNT)
    Journals(book, ACCOUNT).close()


def test_a_damaged_journal_is_refused_and_left_alone(book: Path) -> None:
    path = journal_path(book, ACCOUNT.address, 0)
    path.write_bytes(b"something else")
    with pytest.raises(JournalError):
        Journals(book, ACCOUNT)
    assert path.read_bytes() == b"something else"


def test_a_channel_is_set_aside_whole(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(book.parent)
    with Journals(book, ACCOUNT) as journals:
        id_, _ = (begin(journals.of(seat), seat) for seat in range(2))
        moved = journals.set_aside(id_)
        assert journals.channels == ()
    assert [path.stat().st_mode & 0o777 for _, path in moved] == [0o600] * 2
    with Journals(book, ACCOUNT) as again:
        for seat, (_, path) in enumerate(moved):
            again.of(seat).import_(path.read_bytes())
        assert [left.agreement.channel_id for left in again.channels] == [id_]
