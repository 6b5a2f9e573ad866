"""What one table of a service has, no other table of it takes."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest

from forcemove import ChannelMessenger, FriendlyAssembly, Key, MemoryMessenger, MemoryTransport, Node, local_keys
from forcemove.node.setup import ChannelSetup, undecided
from forcemove.sessions.errors import JournalOfOtherPlayer, OfferOver
from forcemove.sessions.meetings.stored import StoredMeetings
from forcemove.sessions.meetings.venues import FriendlyGame, new_offer
from forcemove.sessions.options import HostGame, TableOptions, Wallet
from forcemove.sessions.playing.played_channel import PlayedChannel
from forcemove.sessions.service import TableService
from forcemove.sessions.table import PlayTable
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from forcemove.transport.connect import Connection
from forcemove.transport.errors import Reason, RelayRefused, RelayUnreachable
from forcemove_games.tic_tac_toe import GAME
from tests.node.test_friendly import agreement_of
from tests.scenarios.story import KEYS
from tests.sessions.ports import BotPort

KEY = local_keys()[0]
ID, OTHER = b"\x01" * 32, b"\x02" * 32


@pytest.fixture
def service() -> Iterator[TableService]:
    async def port() -> BotPort:
        return BotPort(HostGame(0), 1)

    with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        yield TableService(journal, Wallet(KEY, KEY, KEY.address), asyncio.run(port()))


def test_what_a_table_has_no_other_takes(service: TableService) -> None:
    one, another = object(), object()
    assert service.claim(ID, one)
    assert service.claim(ID, one)
    assert not service.claim(ID, another)
    assert not service.is_free(ID, another)
    assert service.is_free(ID, one)
    assert service.claim(OTHER, another)


def test_what_a_table_gives_back_another_takes(service: TableService) -> None:
    one, another = object(), object()
    assert service.claim(ID, one)
    assert service.claim(OTHER, another)
    service.give_back(one)
    assert service.claim(ID, another)
    assert not service.claim(OTHER, one)


def test_a_journal_has_one_player_of_a_channel(tmp_path: Path) -> None:
    """Two of three could share one: each would wait for the other's lease."""
    agreement, (messenger, _) = agreement_of(GAME), MemoryMessenger.table(2)
    assembly = FriendlyAssembly(GAME, agreement)

    async def play_as(key: Key, journal: Journal) -> None:
        port = BotPort(HostGame(0), 1)
        seat = port.take_seat(GAME, agreement, 0)
        service = TableService(journal, Wallet(key, key, key.address), port)
        match = PlayedChannel(GAME, seat.choose, math.inf, port)
        await service.drive_friendly(assembly, ChannelMessenger(MemoryTransport()), seat, match, math.inf)

    with open_journal(str(tmp_path / "journal"), owner=bytes(OWNER_LENGTH)) as journal:
        node = Node(journal)
        node.add(ChannelSetup(assembly, KEYS[0], messenger, undecided))
        node.poll()
        with pytest.raises(JournalOfOtherPlayer, match="journal"):
            asyncio.run(play_as(KEYS[1], journal))


@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        (RelayUnreachable("ws://relay", "it does not answer"), True),
        (RelayRefused(ID, Reason.BUSY, "busy"), True),
        (RelayRefused(ID, Reason.UNKNOWN_OFFER, "gone"), False),
        (asyncio.CancelledError(), False),
    ],
)
def test_our_offer_is_kept_where_the_relay_fails_and_forgotten_where_it_is_over_or_taken_back(
    service: TableService, error: BaseException, *, is_kept: bool
) -> None:
    """A relay that was away for a minute had cost the link that a friend was given."""
    venue = FriendlyGame(GAME.name, GAME.title)
    offer = new_offer(venue, KEY.address, KEY.address, 0, 3_600)
    stored = StoredMeetings(service.journal, venue, KEY.address)
    stored.keep_offer(offer)
    lobby = Mock(watch=Mock(side_effect=error), withdraw=Mock(side_effect=RelayUnreachable("ws://relay", "")))
    table = PlayTable(service, venue, TableOptions("ws://relay", page=""), Mock(), Mock())

    async def wait() -> None:
        await table._wait(cast("Connection", Mock(url="ws://relay", lobby=lobby)), offer)

    with pytest.raises((type(error), OfferOver)):
        asyncio.run(wait())
    assert stored.has_offer(offer) == is_kept
    assert lobby.withdraw.called == (not is_kept)
