"""Opens, resumes and ends any number of tables of one service. A table that fails ends no other one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from forcemove.errors import UnknownVersion
from forcemove.inspect.journal_channel import read_channels
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.types import ETHER
from forcemove.sessions.channel_game import ChannelGameRunner
from forcemove.sessions.errors import OfferOver
from forcemove.sessions.meetings.meeting import Meeting, PendingOffer
from forcemove.sessions.meetings.stored import StoredMeetings, forget_offer, meeting_relay
from forcemove.sessions.options import HostGame, JoinGame, TableOptions
from forcemove.sessions.ports import Output
from forcemove.sessions.running.playable import PlayableGame, resumable
from forcemove.sessions.running.running_table import RunningTable, Sit
from forcemove.sessions.service import TableService
from forcemove.sessions.standby import relay_pauses
from forcemove.sessions.table import PlayTable
from forcemove.store.records import Ownership
from forcemove.text.explanations import headline
from forcemove.transport.ending import end
from forcemove.transport.errors import TransportError
from forcemove.transport.links import Link, public_url
from forcemove.transport.offers import Offer, OtherOfferShown

_ENDED_SHOWN = 10
_OF_A_RELAY = (TransportError, UnknownVersion, OtherOfferShown)
_Play = Callable[[], Coroutine[Any, Any, object]]
"""Plays at a table to its end; returns False where there was nothing to resume."""


@dataclass(frozen=True)
class WantedGame:
    """A game that the player wants to offer. `stake`: in wei, 0 for a friendly game; `duration`: of a challenge, in
    seconds; `seats`: how many play; `move_time`, `guest`: see `Offer`; `relay`: where, empty for our own."""

    game: PlayableGame
    stake: int
    duration: int
    seats: int
    move_time: int = 0
    guest: bytes = b""
    relay: str = ""


class OpenTables:
    """The tables of one service. `tables`: those that are open, and the newest that have ended, by number."""

    def __init__(
        self,
        service: TableService,
        playable: Sequence[PlayableGame],
        options: TableOptions,
        sit: Sit,
        leave: Callable[[bytes], None],
        output: Output,
    ) -> None:
        """Open no table yet.

        - `service`: drives the channels.
        - `playable`: the games that can be played here.
        - `options`: how a table is played; stake, duration and seats are each table's own.
        - `sit`: see `RunningTable`.
        - `leave`: see `RunningTable`.
        - `output`: where the tables' lines are shown.
        """
        self.service, self.playable = service, tuple(playable)
        self._options, self._output = options, output
        self._sit, self._leave = sit, leave
        self.tables: dict[int, RunningTable] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._number = 0
        self.on_change: Callable[[], None] = lambda: None
        """Is called when anything of a table has changed."""

    async def run(self) -> None:
        """Resume what the journal has, and play until this is cancelled. To be run by `TableService.run`."""
        try:
            self.resume()
            await asyncio.Event().wait()
        finally:
            await end(self._tasks.values())

    # ---------------------------------------------------------------------------------------------------------- opening

    def offer(self, wanted: WantedGame) -> RunningTable:
        """Open a table for our new offer."""
        table = self._new(wanted.game, wanted.relay)
        options = replace(
            self._options,
            duration=wanted.duration,
            seats=wanted.seats,
            move_time=wanted.move_time,
            guest=wanted.guest,
        )
        play = self._play_table(wanted.game, table, options)
        self._begin(table, partial(play.play_new, HostGame(wanted.stake)))
        return table

    def join(self, game: PlayableGame, link: Link, offer: Offer) -> RunningTable:
        """Open a table for an offer on whose terms the player has agreed, unless there is one already. `link`: names
        the offer."""
        found = self.table_of(offer.hash)
        if found is not None and not found.is_ended:
            return found
        table = self._new(game)
        table.offer, table.is_ours = offer, False
        self._begin(table, partial(self._play_table(game, table).play_new, JoinGame(link)))
        return table

    def withdraw(self, offer: bytes) -> bool:
        """Take back our offer (its hash), or our seat at the offer of another, before the game has begun: it is
        not continued later. Returns whether there was such a table."""
        table = self.table_of(offer)
        if table is None or not table.can_withdraw:
            return False
        self._tasks[table.number].cancel()
        forget_offer(self.service.journal, offer)
        return True

    def dismiss(self, number: int) -> None:
        """Show a table that has ended no more; one that has not stays."""
        table = self.tables.get(number)
        if table is not None and table.is_ended:
            del self.tables[number]
            self.on_change()

    def table_of(self, offer: bytes) -> RunningTable | None:
        """The newest table of an offer (its hash)."""
        each_of = (each for each in reversed(self.tables.values()) if each.offer is not None)
        return next((each for each in each_of if each.offer is not None and each.offer.hash == offer), None)

    def resume(self) -> None:
        """Open a table for each open channel of the journal, each meeting that may have come about, and each of our
        offers that waits, unless there is one."""
        self._resume_channels()
        for game in self.playable:
            stored = StoredMeetings(self.service.journal, game.venue, self.service.wallet.key.address)
            meetings = [each for each in stored.meetings(lambda _: True) if self._is_of(each.offer, game)]
            for meeting in meetings:
                self._resume_meeting(game, meeting)
            met = {each.offer.hash for each in meetings}
            for pending in stored.offers(partial(self._is_ours, game)):
                if pending.offer.hash not in met and self.table_of(pending.offer.hash) is None:
                    self._wait_again(game, pending)

    def _resume_channels(self) -> None:
        found, _ = read_channels(self.service.journal, self.service.games, Ownership.ACTIVE)
        played = {each.agreement.channel_id for each in self._open() if each.agreement is not None}
        ours = self.service.wallet.key.address
        for stored in found:
            asset = next((each for each, _ in stored.channel.agreement.deposits), ETHER)
            game = stored.game and resumable(self.playable, stored.game.name, stored.chain_id, asset)
            if game and stored.is_open and stored.id not in played and stored.is_of(stored.chain_id, ours):
                table = self._new(game, self._met_at(stored.channel.agreement))
                table.is_ours = stored.channel.index == 0
                resume = partial(self._play_table(game, table).resume, stored.id)
                self._begin(table, partial(self._patiently, table, resume))

    def _met_at(self, agreement: Agreement) -> str:
        """As of `_new`. The journal's meetings are read for nobody who does not want it."""
        return meeting_relay(self.service.journal, agreement) if self._options.keeps_relay else ""

    def _resume_meeting(self, game: PlayableGame, meeting: Meeting) -> None:
        open_ = self.table_of(meeting.offer.hash)
        if open_ is not None and not open_.is_ended:
            return
        table = self._new(game, meeting.relay)
        table.offer, table.is_ours = meeting.offer, meeting.offer.host == self.service.wallet.key.address
        resume = partial(self._play_table(game, table).resume_meeting, meeting)
        self._begin(table, partial(self._patiently, table, resume))

    def _wait_again(self, game: PlayableGame, pending: PendingOffer) -> None:
        table = self._new(game, pending.relay)
        table.offer = pending.offer
        wait = partial(self._play_table(game, table).wait_again, pending.offer)
        self._begin(table, partial(self._patiently, table, wait))

    def _is_of(self, offer: Offer, game: PlayableGame) -> bool:
        """Whether what the journal has of an offer is continued as this game: its token is known there."""
        return resumable(self.playable, offer.game, offer.chain_id, offer.asset) is game

    def _is_ours(self, game: PlayableGame, offer: Offer) -> bool:
        return offer.host == self.service.wallet.key.address and self._is_of(offer, game)

    # ---------------------------------------------------------------------------------------------------------- playing

    def _open(self) -> list[RunningTable]:
        return [each for each in self.tables.values() if not each.is_ended]

    def _new(self, game: PlayableGame, met_at: str = "") -> RunningTable:
        """`met_at`: the address of the relay at which the players met, if it is known."""
        self._number += 1
        relay = met_at if met_at and self._options.keeps_relay else public_url(self._options.relay)
        return RunningTable(self._number, game.game.title, relay, self._sit, self._leave, self._output, self._notify)

    def _notify(self) -> None:
        self.on_change()

    def _play_table(self, game: PlayableGame, table: RunningTable, options: TableOptions | None = None) -> PlayTable:
        options = options or self._options
        if table.relay != public_url(options.relay):
            options = replace(options, relay=table.relay)
        runner = ChannelGameRunner(self.service, game.game, game.chain_venue, options, table)
        return PlayTable(self.service, game.venue, options, table, runner)

    def _begin(self, table: RunningTable, play: _Play) -> None:
        self.tables[table.number] = table
        self._tasks[table.number] = task = asyncio.create_task(self._play(table, play))
        task.add_done_callback(partial(self._on_done, table))
        self.on_change()

    async def _play(self, table: RunningTable, play: _Play) -> None:
        try:
            has_played = await play()
        except Exception as error:
            table.end(error)
            return
        if has_played is False:  # there was nothing to resume
            del self.tables[table.number]
        table.end()

    def _on_done(self, table: RunningTable, task: asyncio.Task[None]) -> None:
        """Forget a table that was withdrawn, and those that have ended long ago."""
        del self._tasks[table.number]
        if task.cancelled():
            del self.tables[table.number]
        for number in [number for number, each in self.tables.items() if each.is_ended][:-_ENDED_SHOWN]:
            del self.tables[number]
        self.on_change()

    async def _patiently(self, table: RunningTable, play: _Play) -> object:
        """Play what the journal has; errors that a relay alone can cause end nothing: the relay is asked again."""
        pauses = relay_pauses()
        while True:
            try:
                return await play()
            except OfferOver:
                return False
            except _OF_A_RELAY as error:
                table.status(f"{headline(error)} It is tried again.")
            await asyncio.sleep(pauses.next_pause())
