"""Who has a seat of an offer: guests join until all seats are taken. Then all have to be at their table, or the seats
of those that are missing are open again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.limits import Limits
from forcemove.relay.offers.shown import Gathering, NotOffered, Seated, Shown
from forcemove.relay.tables import TableClient
from forcemove.transport.errors import Reason
from forcemove.transport.joins import SignedJoin, meeting_table
from forcemove.transport.offers import MIN_SEATS

_FREE_FAILURES = 2
"""Joins of one address that may fail before the address has to wait until it may join the same offer again."""
_LEAST_GUEST_SECONDS = 2.0
_MOST_FAILED = 256
"""Addresses with failed joins that are remembered for each offer."""


class Seating:
    """The seats of all offers. A guest that has joined has its seat as long as a connection lives on which it has
    joined, and for a while longer: it may come back. At a table for two there is nobody to wait for: as soon as the
    guest has joined, both are waited for at their table."""

    def __init__(self, limits: Limits, clock: Callable[[], float], on_change: Callable[[Shown], None]) -> None:
        """Take no guests yet.

        - `limits`: how long a guest, and all, are waited for.
        - `clock`: Unix seconds.
        - `on_change`: is called with an offer whose guests have changed.
        """
        self._limits, self._clock, self._on_change = limits, clock, on_change
        self._gathering: dict[bytes, Shown] = {}

    def join(self, shown: Shown, join: SignedJoin, account: AddressAccount, holder: TableClient) -> None:
        """Give a guest the next free seat, or let one more connection hold the seat that it has. Raises `NotOffered`.

        - `shown`: the offer.
        - `join`: a join of this offer, whose signature was checked.
        - `account`: of the address that the join comes from.
        - `holder`: the connection.
        """
        seated = next((each for each in shown.guests if each.address == join.join.guest), None)
        if seated is not None and seated.join.join == join.join:
            seated.holders.add(holder)
            return
        if shown.gathering is not None:
            raise NotOffered(shown.hash, Reason.OFFER_TAKEN, f"somebody has joined; until {shown.gathering.until}")
        if seated is not None:
            raise NotOffered(shown.hash, Reason.OFFER_TAKEN, "you have a seat already, by another join")
        if join.join.guest == shown.signed.offer.host:
            raise NotOffered(shown.hash, Reason.NOT_A_PARTICIPANT, "a host does not join its own offer")
        if not shown.signed.offer.is_for(join.join.guest):
            raise NotOffered(shown.hash, Reason.NOT_A_PARTICIPANT, "the offer is for another player")
        self._require_reliable(shown, account)
        shown.guests.append(Seated(join, account, {holder}))
        if len(shown.guests) == shown.signed.offer.seats - 1:
            self._gather(shown)
        self._on_change(shown)

    def leave(self, shown: Shown, holder: TableClient) -> None:
        """Note that a connection has ended: the seats that it alone has held are soon free."""
        for each in shown.guests:
            if holder in each.holders:
                each.holders.discard(holder)
                self._free_unless_held(shown, each)

    def arrive(self, table: bytes, participant: bytes) -> Shown | None:
        """Note that a participant has proved to be at a table; returns the offer whose players are all there now."""
        shown = self._gathering.get(table)
        if shown is None or shown.gathering is None:
            return None
        shown.gathering.here.add(participant)
        return shown if len(shown.gathering.here) == shown.signed.offer.seats else None

    def forget(self, shown: Shown) -> None:
        """Wait for nobody any more at the table of an offer."""
        if shown.gathering is not None:
            self._gathering.pop(shown.gathering.table, None)
            shown.gathering = None

    # ---------------------------------------------------------------------------------------------------- at the table

    def _gather(self, shown: Shown) -> None:
        limits, table = self._limits, meeting_table(shown.signed.offer, *(each.join.join for each in shown.guests)).id
        gathering = shown.gathering = Gathering(table, int(self._clock() + limits.join_seconds))
        self._gathering[table] = shown
        failures = sum(count for count, _ in shown.failed.values())
        soon = max(_LEAST_GUEST_SECONDS, limits.guest_seconds / 2 ** min(failures, 10))
        loop = asyncio.get_running_loop()
        loop.call_later(min(soon, limits.join_seconds), self._open_without_guests, shown, gathering)
        loop.call_later(limits.join_seconds, self._open, shown, gathering)

    def _open_without_guests(self, shown: Shown, gathering: Gathering) -> None:
        """Open the seats of guests that are not there: of the one guest of a table for two; else of guests that have no
        connection, either. The others have as long as the host."""
        missing = _missing(shown, gathering)
        gone = [each for each in missing if not each.holders or shown.signed.offer.seats == MIN_SEATS]
        if gone:
            self._open_seats(shown, gathering, gone)

    def _open(self, shown: Shown, gathering: Gathering) -> None:
        """Open the seats of the guests that are not at the table, of all where only the host is missing."""
        self._open_seats(shown, gathering, _missing(shown, gathering))

    def _open_seats(self, shown: Shown, gathering: Gathering, gone: Sequence[Seated]) -> None:
        """Open the seats of these guests, of all for none, unless the game has begun, or others gather by now."""
        if shown.gathering is not gathering or shown.is_over:
            return
        self._blame(shown, gone or (shown.guests if shown.signed.offer.seats == MIN_SEATS else ()))
        self.forget(shown)
        shown.guests = [each for each in shown.guests if gone and each not in gone]
        for each in shown.guests:
            self._free_unless_held(shown, each)
        self._on_change(shown)

    def _free_unless_held(self, shown: Shown, seated: Seated) -> None:
        """Open the seat of a guest that is not connected any more, if it does not come back soon."""
        if not seated.holders and shown.gathering is None:
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.guest_seconds, self._free, shown, seated)

    def _free(self, shown: Shown, seated: Seated) -> None:
        if not seated.holders and shown.gathering is None and seated in shown.guests:
            shown.guests.remove(seated)
            self._on_change(shown)

    # ----------------------------------------------------------------------------------------------------------- blame

    def _require_reliable(self, shown: Shown, account: AddressAccount) -> None:
        """Refuse an address whose joins have failed again and again."""
        _, until = shown.failed.get(account.address, (0, 0.0))
        wait = max(until - self._clock(), account.joins.wait(1, time.monotonic()))
        if wait > 0:
            detail = f"your joins have come to nothing; you may join again in {wait:.0f} s"
            raise NotOffered(shown.hash, Reason.OFFER_TAKEN, detail)

    def _blame(self, shown: Shown, guests: Sequence[Seated]) -> None:
        """Count failed joins: their addresses wait longer each time until they may join this offer again."""
        for each in guests:
            address = each.account.address
            count = shown.failed.pop(address, (0, 0.0))[0] + 1
            seconds = self._limits.join_seconds * (2 ** min(max(0, count - _FREE_FAILURES + 1), 16) - 1)
            shown.failed[address] = count, self._clock() + (seconds if count >= _FREE_FAILURES else 0)
            if len(shown.failed) > _MOST_FAILED:
                shown.failed.popitem(last=False)
            each.account.joins.take(1, time.monotonic())


def _missing(shown: Shown, gathering: Gathering) -> list[Seated]:
    return [each for each in shown.guests if each.address not in gathering.here]
