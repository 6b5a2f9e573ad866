"""One run of `forcemove play`: goes on with an open game of the journal, or offers or joins one; and plays it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Coroutine, Iterator
from typing import Any, Protocol

import click
from msgspec.structs import replace

from forcemove.cli.amounts import exact_amount
from forcemove.cli.errors import Explained
from forcemove.cli.explanations import headline
from forcemove.cli.lobby.finding import find
from forcemove.cli.lobby.invitation import say_invitation
from forcemove.cli.match.connectivity import reporting_connectivity
from forcemove.cli.play.errors import NeverFunded, OfferDiffers, OfferOver
from forcemove.cli.play.meeting import (
    MEETINGS,
    Meeting,
    PendingOffer,
    has_come_about,
    offer_again,
    take,
    take_back,
    wait_for_guest,
)
from forcemove.cli.play.options import PlayOptions, Wallet
from forcemove.cli.play.standby import when_answered
from forcemove.cli.play.terms import Venue, new_offer, require_ours, terms_lines
from forcemove.cli.terminal import Terminal
from forcemove.errors import UnknownVersion
from forcemove.store.journal import Journal
from forcemove.transport.connect import Connection, connect
from forcemove.transport.errors import TransportError
from forcemove.transport.faults import FAULT_SECONDS
from forcemove.transport.links import Link
from forcemove.transport.offers import Offer, OtherOfferShown

__all__ = ["GameRunner", "PlayRun"]

_TRY_EVERY = 5.0
_OF_A_RELAY = (TransportError, UnknownVersion, OtherOfferShown)
"""The errors that a relay alone can cause."""


class GameRunner(Protocol):
    """Plays games of one kind."""

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run `main` to its end, together with what must go on meanwhile. Raises what `main` raises."""
        ...

    @property
    def has_money(self) -> bool:
        """Whether there is money in channels that are defended meanwhile."""
        ...

    async def go_on(self) -> bool:
        """Play an open game of the journal to its end, meetings aside; whether there was one."""
        ...

    def is_stored(self, meeting: Meeting) -> bool:
        """Whether the journal has the game of a meeting."""
        ...

    def is_over(self, meeting: Meeting) -> bool:
        """Whether the game of a meeting is over."""
        ...

    def report_end(self, meeting: Meeting) -> None:
        """Print how the game of a meeting has ended."""
        ...

    async def begin(self, meeting: Meeting) -> None:
        """Play the game of a meeting, from its beginning or wherever its log is, to its end."""
        ...


class PlayRun:
    """One run of the command, with everything that it needs."""

    def __init__(
        self,
        options: PlayOptions,
        venue: Venue,
        wallet: Wallet,
        journal: Journal,
        terminal: Terminal,
        runner: GameRunner,
    ) -> None:
        """Take the parts of the run.

        - `options`: of the command.
        - `venue`: the game, and the chain that it is played on.
        - `wallet`: our keys.
        - `journal`: where offers and channels are stored.
        - `terminal`: where messages are printed.
        - `runner`: plays a game once the players have met.
        """
        self._options, self._venue, self._wallet = options, venue, wallet
        self._journal, self._terminal, self._runner = journal, terminal, runner

    async def run(self) -> None:
        """Run until the game is over. Raises the error that keeps it from being begun or ended."""
        if self._report_ends() and not self._options.from_scratch:
            return
        await self._runner.run(self._run())

    async def _run(self) -> None:
        try:
            has_gone_on = await self._runner.go_on()
        finally:
            for over in self._ended():
                self._forget(over)
        if has_gone_on:
            return
        meeting = await self._agreed()
        try:
            await self._runner.begin(meeting)
        except NeverFunded:
            self._forget(meeting)
            raise
        self._forget(meeting)

    async def _agreed(self) -> Meeting:
        """The meeting to play: an earlier one, or a new one. Raises what the lobby raises; while money is defended
        here, no error of a relay ends that."""
        is_reported = False
        while True:
            try:
                return await self._agreed_at_once()
            except _OF_A_RELAY as error:
                if not self._runner.has_money:
                    raise
                if not is_reported:
                    self._terminal.say(f"relay       {headline(error)} It is tried again; the journal is defended.")
                is_reported = True
            await asyncio.sleep(_TRY_EVERY)

    async def _agreed_at_once(self) -> Meeting:
        async with connect(self._options.relay, fault_seconds=FAULT_SECONDS) as connection:
            meeting = await self._stored_meeting(connection)
            if meeting is not None:
                self._terminal.say(f"Going on with the open game of {self._journal.where}.")
                return meeting
            found = await find(connection, self._options, self._venue, self._wallet.key.address, self._terminal)
            async with reporting_connectivity(connection, self._terminal.say):
                if isinstance(found, Link):
                    meeting = await self._join(connection, found)
                else:
                    meeting = await self._create(connection, found)
            self._keep(meeting)
            return meeting

    # ------------------------------------------------------------------------------------------------ from the journal

    def _report_ends(self) -> bool:
        """Report games that are over, and whose process died before it could report that; whether there were any."""
        ended = self._ended()
        for meeting in ended:
            self._runner.report_end(meeting)
            self._forget(meeting)
        return bool(ended)

    def _ended(self) -> list[Meeting]:
        return [each for each in self._meetings() if self._runner.is_over(each)]

    async def _stored_meeting(self, connection: Connection) -> Meeting | None:
        """The first stored meeting to go on with. The others are forgotten."""
        for meeting in list(self._meetings()):
            if self._runner.is_stored(meeting):  # the game is in the journal
                self._forget(meeting)
            elif not self._options.from_scratch and await has_come_about(connection, meeting):
                return meeting
            else:
                self._journal.meetings.forget(meeting.table.id)
        return None

    def _forget(self, meeting: Meeting) -> None:
        """Forget a meeting whose game is over, with its offer."""
        self._journal.meetings.forget(meeting.table.id)
        self._journal.meetings.forget(meeting.offer.hash)

    def _keep(self, meeting: Meeting) -> None:
        self._journal.meetings.keep(meeting.table.id, MEETINGS.encode(meeting))

    def _meetings(self) -> Iterator[Meeting]:
        """The meetings of this game, chain and key."""
        for each in self._remembered():
            offer = each.offer
            is_same = (offer.game, offer.chain_id) == (self._venue.name, self._venue.chain_id)
            if is_same and isinstance(each, Meeting) and self._wallet.key.address in each.players:
                yield each

    def _remembered(self) -> Iterator[Meeting | PendingOffer]:
        return (MEETINGS.decode(body) for _, body in self._journal.meetings.all())

    # --------------------------------------------------------------------------------------------------- from the lobby

    async def _create(self, connection: Connection, stake: int) -> Meeting:
        """Offer a game, and wait for a guest. The offer is in the journal before it is in the lobby: a host that is
        killed while waiting waits on for the same link."""
        key = self._wallet.key
        wanted = new_offer(self._venue, key.address, self._wallet.payout, stake, self._options.duration)
        await self._say_terms(wanted)
        offer = await self._offer(connection, wanted)
        try:
            say_invitation(self._terminal, offer, Link(connection.url, offer.hash), self._options.relay)
            self._terminal.status("Waiting for somebody to join")
            return await wait_for_guest(connection, offer, key, self._keep)
        except BaseException:  # it was taken back
            self._journal.meetings.forget(offer.hash)
            raise

    async def _offer(self, connection: Connection, wanted: Offer) -> Offer:
        """The offer that is in the lobby then: one of ours that still waits there, or the wanted one."""
        key, meetings = self._wallet.key, self._journal.meetings
        for stored in [each for each in self._offers() if _is_alike(each, wanted)]:
            if self._options.from_scratch:
                await take_back(connection, stored, key)
            else:
                with contextlib.suppress(OfferOver):
                    await offer_again(connection, stored, key)
                    return stored
            meetings.forget(stored.hash)
        meetings.keep(wanted.hash, MEETINGS.encode(PendingOffer(wanted)))
        await offer_again(connection, wanted, key)
        return wanted

    def _offers(self) -> Iterator[Offer]:
        """Our offers that may still be taken; the others are forgotten."""
        for each in list(self._remembered()):
            if isinstance(each, PendingOffer) and each.offer.expires > time.time():
                yield each.offer
            elif isinstance(each, PendingOffer):
                self._journal.meetings.forget(each.offer.hash)

    async def _join(self, connection: Connection, link: Link) -> Meeting:
        offer = (await connection.lobby.look(link.offer)).signed.offer
        require_ours(offer, self._venue)
        if self._options.stake not in (None, offer.stake):
            raise OfferDiffers("stake", exact_amount(offer.stake), exact_amount(self._options.stake))
        await self._say_terms(offer)
        await self._require_consent()
        self._terminal.status("Waiting for the host at the table")
        return await take(connection, offer, self._wallet.key, self._wallet.payout, self._keep)

    async def _say_terms(self, offer: Offer) -> None:
        """Print the terms and what they may cost us. Raises as `Venue.costs_lines`."""
        for line in terms_lines(offer, self._venue.title):
            self._terminal.say(line)
        payer = self._wallet.payer.address
        for line in await when_answered(lambda: self._venue.costs_lines(offer, payer), self._terminal.note):
            self._terminal.say(line)

    async def _require_consent(self) -> None:
        """Ask the person. Raises `Explained` where nobody can be asked, and `click.Abort` where the person does not
        want to."""
        if self._options.agrees:
            return
        if not sys.stdin.isatty():
            raise Explained(
                "Nobody has agreed to these terms, and there is nobody to ask.", "To join on them, say --yes."
            )
        self._terminal.close()
        await asyncio.to_thread(click.confirm, "Join on these terms?", abort=True, err=True)


def _is_alike(stored: Offer, wanted: Offer) -> bool:
    """Whether two offers differ only in random values and times."""
    return replace(stored, nonce=wanted.nonce, expires=wanted.expires) == wanted
