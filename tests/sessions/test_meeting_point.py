"""Where players meet: whatever a lobby shows, a game begins only at the table at which we are, with the same players in
the same order."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, cast

import pytest

from forcemove import Key, TableTerms
from forcemove.sessions.errors import OfferOver
from forcemove.sessions.meetings.lobby import Waiting
from forcemove.sessions.meetings.meeting import Meeting, MeetingPoint
from forcemove.transport.connect import Connection
from forcemove.transport.errors import Reason, RelayRefused
from forcemove.transport.joins import Join, OfferStatus, SignedJoin
from forcemove.transport.offers import Offer, SignedOffer
from tests.transport.offered import CAROL, FRIENDLY, PAYOUT, new_offer
from tests.transport.people import ALICE, BOB, MALLORY

OFFER = new_offer(**FRIENDLY, seats=3, name="Alice")


def shown(*guests: Key, is_over: bool = False, offer: Offer = OFFER) -> OfferStatus:
    joins = tuple(SignedJoin.sign(Join(offer.hash, each.address, PAYOUT), each) for each in guests)
    return OfferStatus(SignedOffer.sign(offer, ALICE), joins, 0, is_over)


def meeting(*guests: Key) -> Meeting:
    return Meeting(OFFER, tuple(each.join for each in shown(*guests).joins), has_met=False)


class Lobby:
    """Shows what it is told to; then it has forgotten the offer. `is_open`: whether the offer stays open then;
    `is_known`: whether it can be withdrawn."""

    def __init__(self, story: list[OfferStatus]) -> None:
        self._story, self.joined = iter(story), 0
        self.is_open, self.is_known = False, True

    async def watch(self, offer: bytes) -> AsyncGenerator[OfferStatus]:
        for each in self._story:
            yield each
        if self.is_open:
            await asyncio.Event().wait()
        raise RelayRefused(offer, Reason.UNKNOWN_OFFER, "gone")

    async def join(self, offer: bytes, key: Key, payout: bytes, *, chain_id: int, name: str = "") -> OfferStatus:
        self.joined += 1
        return shown(key)

    async def withdraw(self, offer: bytes, key: Key) -> None:
        """It is gone."""
        if not self.is_known:
            raise RelayRefused(offer, Reason.UNKNOWN_OFFER, "gone")


class Place:
    """A connection, and a journal. `at`: the tables at which we are; `stored`: the meetings that are remembered."""

    def __init__(self, *story: OfferStatus) -> None:
        self.lobby, self.at, self.been = Lobby(list(story)), list[bytes](), list[bytes]()
        self.stored: list[Meeting] = []
        self.seen: list[OfferStatus] = []

    async def join(self, table: TableTerms, key: Key) -> None:
        assert key.address in table.participants
        assert table.id in [each.table.id for each in self.stored], "it is stored before we are there"
        self.at.append(table.id)
        self.been.append(table.id)

    def leave(self, table: bytes) -> None:
        self.at.remove(table)

    def point(self, key: Key) -> MeetingPoint:
        return MeetingPoint(
            cast("Connection", self), OFFER, key, self.stored.append, self.stored.remove, self.seen.append
        )

    def met(self, doing: Coroutine[Any, Any, Meeting]) -> Meeting:
        found = asyncio.run(doing)
        assert self.at == []
        assert found.has_met
        return found


def test_a_host_is_at_the_table_of_all_seats_and_begins_when_all_are() -> None:
    place = Place(shown(), shown(BOB), shown(BOB, CAROL), shown(BOB, CAROL, is_over=True))
    met = place.met(place.point(ALICE).wait_for_guests())
    assert met.players == (ALICE.address, BOB.address, CAROL.address)
    assert place.been == [meeting(BOB, CAROL).table.id]
    assert [each.taken for each in place.seen] == [1, 2, 3]


def test_a_host_moves_to_the_table_of_others_and_forgets_the_first_one() -> None:
    place = Place(shown(BOB, MALLORY), shown(BOB), shown(BOB, CAROL), shown(BOB, CAROL, is_over=True))
    met = place.met(place.point(ALICE).wait_for_guests())
    assert met.table == meeting(BOB, CAROL).table
    assert place.been == [meeting(BOB, MALLORY).table.id, meeting(BOB, CAROL).table.id]
    assert place.stored == [meeting(BOB, CAROL)]


@pytest.mark.parametrize("over", [(CAROL, BOB), (BOB, MALLORY), ()])
def test_threat_27_a_game_of_another_order_or_of_others_is_not_begun(over: tuple[Key, ...]) -> None:
    place = Place(shown(BOB, CAROL), shown(*over, is_over=True))
    with pytest.raises(OfferOver):
        asyncio.run(place.point(BOB).take(PAYOUT))
    assert place.been == [meeting(BOB, CAROL).table.id]
    assert place.at == []
    assert place.stored == [], "nobody continues it later"


def test_threat_27_a_guest_who_wants_to_be_paid_at_the_adjudicator_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """No channel has such a destination: who has such a meeting in its journal could not begin or continue
    anything."""
    offer = new_offer(seats=3)
    monkeypatch.setattr(sys.modules[__name__], "OFFER", offer)
    bad = SignedJoin.sign(Join(offer.hash, MALLORY.address, offer.adjudicator), MALLORY)
    good = shown(BOB, CAROL, offer=offer)
    for is_over in (False, True):
        place = Place(
            OfferStatus(good.signed, (good.joins[0], bad), 0, is_over),
            good,
            shown(BOB, CAROL, is_over=True, offer=offer),
        )
        if is_over:
            with pytest.raises(OfferOver):
                asyncio.run(place.point(ALICE).wait_for_guests())
            assert place.stored == []
        else:
            met = place.met(place.point(ALICE).wait_for_guests())
            assert met.players == (ALICE.address, BOB.address, CAROL.address)
            assert place.been == [met.table.id]


def test_a_game_whose_offer_the_lobby_has_forgotten_has_begun() -> None:
    place = Place(shown(BOB, CAROL))
    assert place.met(place.point(BOB).take(PAYOUT)).table == meeting(BOB, CAROL).table


def taken_back(*, is_known: bool) -> Place:
    """Alice takes her offer back while all seats are taken, and not all are at the table. `is_known`: whether the lobby
    has it still: else all were there."""
    place = Place(shown(BOB, CAROL))
    place.lobby.is_open, place.lobby.is_known = True, is_known

    async def main() -> None:
        waiting = asyncio.create_task(place.point(ALICE).wait_for_guests())
        while not place.at:
            await asyncio.sleep(0)
        assert place.stored == [meeting(BOB, CAROL)]
        waiting.cancel()
        await asyncio.wait([waiting])

    asyncio.run(main())
    assert place.at == []
    return place


def test_a_game_whose_offer_its_host_has_taken_back_is_not_gone_on_with() -> None:
    assert taken_back(is_known=True).stored == []


def test_a_game_that_had_begun_when_its_host_took_the_offer_back_is_gone_on_with() -> None:
    assert taken_back(is_known=False).stored == [meeting(BOB, CAROL)]


def test_nobody_begins_at_no_table() -> None:
    for story in ((shown(BOB),), (shown(BOB), shown(is_over=True)), ()):
        place = Place(*story)
        with pytest.raises(OfferOver):
            asyncio.run(place.point(BOB).take(PAYOUT))
        assert (place.been, place.stored) == ([], [])


def test_a_guest_that_has_lost_its_seat_joins_again_and_forgets_the_table() -> None:
    place = Place(shown(BOB, MALLORY), shown(CAROL), shown(CAROL, BOB), shown(CAROL, BOB, is_over=True))
    met = place.met(place.point(BOB).take(PAYOUT))
    assert met.players == (ALICE.address, CAROL.address, BOB.address)
    assert place.lobby.joined == 2
    assert place.stored == [meeting(CAROL, BOB)]


def test_who_waits_is_told_who_is_here_comes_and_goes() -> None:
    waiting = Waiting(OFFER, ALICE.address)
    bob = "0x" + BOB.address.hex()[:4]
    assert waiting.status(shown()).startswith("1 of 3 are here: Alice 0x")
    (come,) = waiting.changes(shown(BOB))
    assert come.lower().startswith(f"lobby       {bob}")
    assert list(waiting.changes(shown(BOB))) == []
    (gone,) = waiting.changes(shown())
    assert gone.endswith("has gone: 1 of 3 are here.")
    assert waiting.status(shown(BOB, CAROL)) == "All seats are taken: waiting for all at the table"
    assert list(Waiting(OFFER, BOB.address).changes(shown(BOB))) == []
