"""Players at a channel's table are told what is on its way to the disk; nothing has a place, or is acknowledged, before
it is there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest

from forcemove.relay import keeping, limits, tables
from forcemove.relay.storage.schema import Entry
from forcemove.relay.storage.store import RelayStore
from forcemove.store.errors import JournalUnwritable
from forcemove.transport.terms import TableKind
from forcemove.transport.wire import Coming, Entries, Posted, RequestRefused
from tests.relay.inside import Clock, Inside, Listener
from tests.relay.raw import post
from tests.transport.people import ALICE, new_table


class _GatedStore(RelayStore):
    """A disk on which nothing arrives before the gate is open. `is_full`: whether it then takes nothing."""

    is_full = False

    def __init__(self, store: RelayStore) -> None:
        super().__init__(store._session, None, Clock())
        self.gate = Event()

    def commit(self, entries: Sequence[Entry], touched: Sequence[tuple[int, int]]) -> None:
        assert self.gate.wait(60)
        if self.is_full:
            raise JournalUnwritable("the disk", "it is full")
        super().commit(entries, touched)


class _Table:
    """A table of a relay whose disk is as slow as the test wants."""

    def __init__(self, disk: _GatedStore, committer: keeping.Committer, log: tables.LiveLog) -> None:
        self.disk, self._committer, self.log = disk, committer, log

    def reader(self, *, is_players: bool = True, is_behind: bool = False) -> Listener:
        ear = Listener()
        reading = tables.Reading(ear, self.log, self.log.kept.length, is_behind=is_behind, is_players=is_players)
        self.log.readings.add(reading)
        return ear

    def post(self, poster: Listener, number: int, address: str = "") -> None:
        addition = keeping.PendingPost(
            self.log, poster, ALICE.address, post(self.log.kept.table, number, b"%d" % number)
        )
        self._committer.add_at_once(addition, address or f"address {number}", 1)

    async def settled(self) -> None:
        self.disk.gate.set()
        while self.log.coming_count:
            await self._committer.next_commit()
        self.disk.gate.clear()


@asynccontextmanager
async def _table(path: Path, kind: TableKind = TableKind.CHANNEL) -> AsyncIterator[_Table]:
    inside = await Inside.start(path, Clock(), limits.Limits(), _GatedStore)
    assert isinstance(inside.store, _GatedStore)
    try:
        yield _Table(inside.store, inside.committer, await inside.tables.make(new_table(kind)))
    finally:
        inside.store.gate.set()
        await inside.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "relay.sqlite"


async def test_the_other_player_is_told_at_once_and_the_author_when_it_is_on_disk(path: Path) -> None:
    async with _table(path) as table:
        alice, bob, spectator = table.reader(), table.reader(), table.reader(is_players=False)
        id_ = table.log.kept.id
        table.post(alice, 1)
        assert bob.heard() == [Coming(id_, b"1")]
        assert alice.heard() == spectator.heard() == []
        await table.settled()
        assert bob.heard() == [Entries(id_, 0, (b"1",))]
        assert alice.heard() == [Entries(id_, 0, (b"1",)), Posted(id_, (1).to_bytes(16), 0)]


async def test_an_answer_overtakes_the_disk_as_its_question_did(path: Path) -> None:
    async with _table(path) as table:
        alice, bob = table.reader(), table.reader()
        table.post(alice, 1)
        table.post(bob, 2)
        assert [bob.heard(), alice.heard()] == [[Coming(table.log.kept.id, b"%d" % each)] for each in (1, 2)]
        await table.settled()
        table.post(alice, 3)
        assert bob.heard()[-1] == Coming(table.log.kept.id, b"3")


async def test_an_answer_has_its_place_after_its_question_whoever_has_a_turn(path: Path) -> None:
    """Alice's address has more posts waiting than go in one turn of an address, and Bob's has one."""

    async with _table(path) as table:
        alice, bob = table.reader(), table.reader()
        for number in range(20):
            table.post(alice, number, "alice's")
        table.post(bob, 20, "bob's")
        await table.settled()
        placed = [each.entries for each in alice.heard() if isinstance(each, Entries)]
        assert sum(placed, ()) == tuple(b"%d" % number for number in range(21))


async def test_the_log_of_a_game_is_told_in_its_order_alone(path: Path) -> None:
    async with _table(path, TableKind.GAME) as table:
        alice, bob = table.reader(), table.reader()
        table.post(alice, 1)
        assert bob.heard() == []
        await table.settled()
        assert bob.heard() == [Entries(table.log.kept.id, 0, (b"1",))]


async def test_who_lacks_an_earlier_entry_is_told_of_no_later_one(path: Path) -> None:
    async with _table(path) as table:
        alice = table.reader()
        table.post(alice, 1)
        late, behind = table.reader(), table.reader(is_behind=True)
        table.post(alice, 2)
        assert late.heard() == behind.heard() == []
        await table.settled()
        assert late.heard() == [Entries(table.log.kept.id, 0, (b"1", b"2"))]
        table.post(alice, 3)
        assert late.heard() == [Coming(table.log.kept.id, b"3")]


async def test_what_a_full_disk_refuses_has_no_place_and_comes_again(path: Path) -> None:
    async with _table(path) as table:
        alice, bob, id_ = table.reader(), table.reader(), table.log.kept.id
        table.disk.is_full = True
        table.post(alice, 1)
        await table.settled()
        assert bob.heard() == [Coming(id_, b"1")]
        assert [type(each) for each in alice.heard()] == [RequestRefused]
        table.disk.is_full = False
        table.post(alice, 1)
        await table.settled()
        assert bob.heard() == [Coming(id_, b"1"), Entries(id_, 0, (b"1",))]
