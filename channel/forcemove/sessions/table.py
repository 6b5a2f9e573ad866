"""One table: continues an open game of the journal, or offers or joins one; and plays it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import assert_never

from msgspec.structs import replace

from forcemove.errors import UnknownVersion
from forcemove.sessions.channel_game import ChannelGameRunner
from forcemove.sessions.errors import JournalOfOtherPlayer, NeverFunded, OfferDiffers, OfferOver
from forcemove.sessions.log_game import LogGameRunner
from forcemove.sessions.meetings.lobby import Waiting
from forcemove.sessions.meetings.meeting import Meeting, MeetingPoint, has_come_about, offer_again, take_back
from forcemove.sessions.meetings.stored import StoredMeetings
from forcemove.sessions.meetings.terms import offered_amount, terms_lines
from forcemove.sessions.meetings.venues import GamePlace, is_ours, new_offer, require_ours
from forcemove.sessions.options import FindIntent, HostGame, Intent, JoinGame, TableOptions
from forcemove.sessions.playing.connectivity import reporting_connectivity
from forcemove.sessions.ports import TablePort
from forcemove.sessions.service import TableService
from forcemove.sessions.standby import relay_pauses, when_answered
from forcemove.text.explanations import headline
from forcemove.transport.connect import Connection, connect_relay
from forcemove.transport.errors import TransportError
from forcemove.transport.faults import FAULT_SECONDS
from forcemove.transport.joins import OfferStatus
from forcemove.transport.links import Link, public_url
from forcemove.transport.offers import Offer, OtherOfferShown

_OF_A_RELAY = (TransportError, UnknownVersion, OtherOfferShown)
"""The errors that a relay alone can cause."""


class PlayTable:
    """One table of a service, for one game."""

    def __init__(
        self,
        service: TableService,
        venue: GamePlace,
        options: TableOptions,
        port: TablePort,
        runner: ChannelGameRunner | LogGameRunner,
    ) -> None:
        """Open the table; nothing is asked or sent yet.

        - `service`: whose node, journal and keys are used.
        - `venue`: the game, and the chain that it is played on.
        - `options`: how it is played.
        - `port`: the one who sits at the table.
        - `runner`: plays a game once the players have met.
        """
        self._service, self._venue, self._options, self._port = service, venue, options, port
        self._wallet, self._runner = service.wallet, runner
        relay = public_url(options.relay) if options.keeps_relay else ""
        self._stored = StoredMeetings(service.journal, venue, service.wallet.key.address, relay)

    def report_ends(self) -> bool:
        """Report games that are over, and whose process died before it could report that; whether there were any, and
        no other game is wanted."""
        ended = self._ended()
        for meeting in ended:
            self._runner.report_end(meeting)
            self._stored.forget(meeting)
        return bool(ended) and not self._options.from_scratch

    async def play(self, find: FindIntent) -> None:
        """Play one game, while `TableService.run` runs: an open one of the journal, else what `find` says. Raises the
        error that keeps it from being begun or ended."""
        try:
            if not await self._go_on():
                await self._begin(await self._agreed(find))
        finally:
            self._service.give_back(self._runner)

    async def play_new(self, intent: Intent) -> None:
        """Play a new game, while `TableService.run` runs: open ones of the journal are left to other tables. Raises the
        error that keeps it from being begun or ended."""
        try:
            async with self._connected() as connection:
                meeting = await self._new_meeting(connection, intent)
            await self._begin(meeting)
        finally:
            self._service.give_back(self._runner)

    async def resume(self, channel_id: bytes) -> bool:
        """Play an open channel of the journal to its end, while `TableService.run` runs; returns whether there is one
        that no other table has. Raises the error that keeps it from being ended."""
        try:
            return await self._go_on(channel_id)
        finally:
            self._service.give_back(self._runner)

    async def resume_meeting(self, meeting: Meeting) -> bool:
        """Play the game of a stored meeting, while `TableService.run` runs; returns whether there is one to play: the
        meeting has come about, and its game is not in the journal. Raises as `play`."""
        try:
            if self._runner.is_over(meeting):
                self._stored.forget(meeting)
            if self._runner.is_stored(meeting) or not self._claim(meeting.offer.hash):
                return False
            async with self._connected() as connection:
                is_on = await self._has_come_about(connection, meeting)
            if is_on:
                await self._begin(meeting)
            return is_on
        finally:
            self._service.give_back(self._runner)

    async def wait_again(self, offer: Offer) -> None:
        """Wait for the guests of our stored offer, and play, while `TableService.run` runs. Raises `OfferOver`
        where the offer was played or has expired, and as `play`."""
        try:
            if not self._claim(offer.hash):
                return
            async with self._connected() as connection, reporting_connectivity(connection, self._port.say):
                try:
                    await offer_again(connection, offer, self._wallet.key)
                except OfferOver:
                    self._stored.forget_offer(offer)
                    raise
                meeting = await self._wait(connection, offer)
                self._stored.keep(meeting)
            await self._begin(meeting)
        finally:
            self._service.give_back(self._runner)

    async def _go_on(self, channel_id: bytes | None = None) -> bool:
        try:
            return await self._runner.go_on(channel_id)
        finally:
            for over in self._ended():
                self._stored.forget(over)

    async def _begin(self, meeting: Meeting) -> None:
        try:
            await self._runner.begin(meeting)
        except NeverFunded:
            self._stored.forget(meeting)
            raise
        self._stored.forget(meeting)

    def _connected(self) -> Connection:
        return connect_relay(self._options.relay, fault_seconds=FAULT_SECONDS)

    def _ended(self) -> list[Meeting]:
        return [each for each in self._stored.meetings(self._is_free) if self._runner.is_over(each)]

    async def _agreed(self, find: FindIntent) -> Meeting:
        """The meeting to play: an earlier one, or a new one. Raises what the lobby raises; while money is defended
        here, no error of a relay ends that."""
        is_reported, pauses = False, relay_pauses()
        while True:
            try:
                return await self._agreed_at_once(find)
            except _OF_A_RELAY as error:
                if not self._service.has_money:
                    raise
                if not is_reported:
                    self._port.say(f"relay       {headline(error)} It is tried again; the journal is defended.")
                is_reported = True
            await asyncio.sleep(pauses.next_pause())

    async def _agreed_at_once(self, find: FindIntent) -> Meeting:
        async with self._connected() as connection:
            stored = await self._stored_meeting(connection)
            return stored or await self._new_meeting(connection, await find(connection, self._is_joinable))

    async def _new_meeting(self, connection: Connection, intent: Intent) -> Meeting:
        """The meeting that follows from what the player wants, in the journal. Raises what the lobby raises."""
        async with reporting_connectivity(connection, self._port.say):
            match intent:
                case JoinGame(link):
                    meeting = await self._join(connection, link)
                case HostGame(stake):
                    meeting = await self._create(connection, stake)
                case _:
                    assert_never(intent)
        self._stored.keep(meeting)
        return meeting

    async def _stored_meeting(self, connection: Connection) -> Meeting | None:
        """The first stored meeting that can be continued. The others are forgotten."""
        for meeting in self._stored.meetings(self._claim):
            if await self._has_come_about(connection, meeting):
                return meeting
        return None

    async def _has_come_about(self, connection: Connection, meeting: Meeting) -> bool:
        """Whether a stored meeting is to be continued; else it is forgotten."""
        if self._runner.is_stored(meeting):  # the game is in the journal
            self._stored.forget(meeting)
            return False
        if self._options.from_scratch or not await has_come_about(connection, meeting):
            self._stored.forget_meeting(meeting)
            return False
        self._port.say(f"Continuing the open game of {self._service.journal.where}.")
        return True

    def _is_free(self, offer: bytes) -> bool:
        return self._service.is_free(offer, self._runner)

    def _claim(self, offer: bytes) -> bool:
        return self._service.claim(offer, self._runner)

    def _is_joinable(self, offer: Offer) -> bool:
        ours = self._wallet.key.address
        return offer.host != ours and offer.is_for(ours) and is_ours(offer, self._venue)

    # -------------------------------------------------------------------------------------------------- from the lobby

    async def _create(self, connection: Connection, stake: int) -> Meeting:
        """Offer a game, and wait for a guest. The offer is in the journal before it is in the lobby: a host that is
        killed while waiting waits on for the same link."""
        key = self._wallet.key
        options = self._options
        wanted = new_offer(
            self._venue,
            key.address,
            self._wallet.payout,
            stake,
            options.duration,
            seats=options.seats or min(self._venue.seats),
            name=options.name,
            move_time=options.move_time,
            guest=options.guest,
        )
        await self._say_terms(wanted)
        return await self._wait(connection, await self._offer(connection, wanted))

    async def _wait(self, connection: Connection, offer: Offer) -> Meeting:
        """Wait for the guests of our offer that is in the lobby and in the journal. It stays there where the relay
        fails: anyone who plays with this journal again waits on for the same link."""
        try:
            self._port.invite(offer, Link(connection.url, offer.hash), await self._page(connection, offer))
            return await self._point(connection, offer).wait_for_guests()
        except _OF_A_RELAY:
            raise
        except BaseException:  # it is over, or was taken back
            self._stored.forget_offer(offer)
            raise

    async def _page(self, connection: Connection, offer: Offer) -> str:
        """The address of a page on which a friend can play an offer; empty for none."""
        if self._options.page is not None:
            return self._options.page
        if not offer.is_friendly:
            return ""
        from forcemove.transport.relay_page import find_page

        return await find_page(connection.url)

    async def _offer(self, connection: Connection, wanted: Offer) -> Offer:
        """The offer that is in the lobby then: our own that still waits there, or the wanted one."""
        key = self._wallet.key
        for each in self._stored.offers(lambda offer: _is_alike(offer, wanted) and self._claim(offer.hash)):
            stored = each.offer
            if self._options.from_scratch:
                await take_back(connection, stored, key)
            else:
                with contextlib.suppress(OfferOver):
                    await offer_again(connection, stored, key)
                    return stored
            self._stored.forget_offer(stored)
        self._claim(wanted.hash)
        self._stored.keep_offer(wanted)
        await offer_again(connection, wanted, key)
        return wanted

    async def _join(self, connection: Connection, link: Link) -> Meeting:
        offer = (await connection.lobby.look(link.offer)).signed.offer
        require_ours(offer, self._venue)
        offer.require_guest(self._wallet.key.address)
        if self._stored.has_offer(offer) and offer.host != self._wallet.key.address:
            raise JournalOfOtherPlayer(self._service.journal.where)
        wanted = self._options.stake
        if wanted is not None and wanted != offer.stake:
            offered, ours = (offered_amount(offer, each, self._venue.token) for each in (offer.stake, wanted))
            raise OfferDiffers("stake", offered, ours)
        await self._say_terms(offer)
        await self._port.agree(offer)
        self._claim(offer.hash)
        return await self._point(connection, offer).take(self._wallet.payout, self._options.name)

    def _point(self, connection: Connection, offer: Offer) -> MeetingPoint:
        """Where we meet the other players of an offer, which shows who is waited for."""
        waiting = Waiting(offer, self._wallet.key.address)

        def on_change(shown: OfferStatus) -> None:
            self._port.status(waiting.status(shown))
            for line in waiting.changes(shown):
                self._port.say(line)

        stored = self._stored
        return MeetingPoint(connection, offer, self._wallet.key, stored.keep, stored.forget_meeting, on_change)

    async def _say_terms(self, offer: Offer) -> None:
        """Show the terms and what they may cost us. Raises as `GameOnChain.costs_lines`, and
        `TableService.require_within_limits`."""
        for line in terms_lines(offer, self._venue.title, self._venue.token):
            self._port.say(line)
        if not offer.is_friendly:
            self._service.require_within_limits(offer.asset, offer.deposit, offer.duration)
        payer = self._wallet.payer_address
        self._port.status("Asking the node")
        for line in await when_answered(lambda: self._venue.costs_lines(offer, payer), self._port.note):
            self._port.say(line)
        self._port.status("Asking the relay")


def _is_alike(stored: Offer, wanted: Offer) -> bool:
    """Whether two offers differ only in random values and times."""
    return replace(stored, nonce=wanted.nonce, expires=wanted.expires) == wanted
