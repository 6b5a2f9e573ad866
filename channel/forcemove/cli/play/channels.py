"""Plays a channel over a connection: one of the journal's, or one that was just agreed on."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from functools import partial
from typing import Any

from forcemove.cli.channel.stores import read_all
from forcemove.cli.match.ends import EndObserver, end_lines
from forcemove.cli.match.match import Match, is_unpaid
from forcemove.cli.match.screen import PutAside
from forcemove.cli.match.screen_content import NAMES
from forcemove.cli.match.seats import BotSeat, PersonSeat, PlayerSeat
from forcemove.cli.play.carrying import messenger_for
from forcemove.cli.play.driving import PlayNode
from forcemove.cli.play.errors import NeverFunded
from forcemove.cli.play.meeting import Meeting
from forcemove.cli.play.options import PlayOptions, Wallet
from forcemove.cli.play.standby import when_answered
from forcemove.cli.play.terms import ChainVenue, agreement_of
from forcemove.cli.terminal import Terminal
from forcemove.game import Game
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.node.friendly import FriendlyAssembly
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import Ending
from forcemove.store.journal import Journal
from forcemove.store.records import Ownership, StoredChannel
from forcemove.transport.connect import connect, messenger_on
from forcemove.transport.terms import TableKind, TableTerms

__all__ = ["ChannelGameRunner"]

_PARTING = "The game goes on without you: be back before a challenge can run out."
_FRIENDLY_PARTING = "You have put the game aside."
_ASIDE = "the game is put aside; the same command goes on with it."


class ChannelGameRunner:
    """Plays one game in channels."""

    def __init__(
        self,
        game: Game,
        venue: ChainVenue | None,
        options: PlayOptions,
        wallet: Wallet,
        journal: Journal,
        terminal: Terminal,
    ) -> None:
        """Make the node, if there is a chain.

        - `game`: the game to play.
        - `venue`: the chain that is played on; None for friendly games.
        - `options`: of the run.
        - `wallet`: our keys.
        - `journal`: where the channels are stored.
        - `terminal`: where messages are printed.
        """
        self._game, self._venue, self._options, self._wallet = game, venue, options, wallet
        self._journal, self._terminal = journal, terminal
        self._play_node = PlayNode(journal, venue.chains if venue else (), wallet, options.lease, terminal)

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """See `playing.Play`: where there is a chain, all that the journal has on it is defended."""
        await self._play_node.run(main)

    @property
    def has_money(self) -> bool:
        """See `playing.Play`."""
        return self._play_node.has_money

    async def go_on(self) -> bool:
        """See `run.GameRunner`: the first open channel of this game, chain and key."""
        found, _ = read_all(self._journal)
        stored = next((each for each in found if self._is_ours(each)), None)
        if stored is None:
            return False
        self._terminal.say(f"Going on with the open channel of {self._journal.where}.")
        await self._play(stored.channel.agreement, stored)
        return True

    def _is_ours(self, stored: JournalChannel) -> bool:
        if stored.ownership is not Ownership.ACTIVE or (self._options.from_scratch and is_unpaid(stored.channel)):
            return False
        chain_id = self._venue.chain_id if self._venue else NO_CHAIN
        is_same = stored.game is not None and stored.game.name == self._game.name
        return is_same and stored.is_of(chain_id, self._wallet.key.address)

    def is_stored(self, meeting: Meeting) -> bool:
        """See `run.GameRunner`."""
        return self._load(meeting) is not None

    def is_over(self, meeting: Meeting) -> bool:
        """See `run.GameRunner`."""
        stored = self._load(meeting)
        return stored is not None and stored.ownership is Ownership.FINISHED

    def report_end(self, meeting: Meeting) -> None:
        """See `run.GameRunner`."""
        stored = self._load(meeting)
        if stored is not None:
            self._terminal.say("The game is over that this command has begun before.")
            self._say_result(CHANNELS.decode(stored.snapshot), EndObserver())

    def _load(self, meeting: Meeting) -> StoredChannel | None:
        return self._journal.load(agreement_of(meeting.offer, meeting.join, self._game).channel_id)

    async def begin(self, meeting: Meeting) -> None:
        """See `run.GameRunner`."""
        await self._play(agreement_of(meeting.offer, meeting.join, self._game), None)

    async def _play(self, agreement: Agreement, stored: JournalChannel | None) -> None:
        number = agreement.fixed_part.participants.index(self._wallet.key.address)
        self._terminal.say(f"You are the {NAMES[number].lower()} in channel {hex_text(agreement.channel_id)}.")
        seat = self._seat(agreement, number)
        match = Match(self._game, seat.choose, self._options.patience, seat.output)
        try:
            if self._venue is None:
                channel = await self._drive_friendly(agreement, seat, match)
            else:
                channel = await self._drive(self._venue, agreement, stored, seat, match)
        finally:
            self._terminal.close()
        self._say_result(channel, match.end_observer)

    def _seat(self, agreement: Agreement, number: int) -> PlayerSeat:
        if self._options.rounds is not None:
            return BotSeat(
                self._game, number, self._options.rounds, agreement.count, self._terminal, self._options.pace
            )
        self._terminal.close()  # the screen is the person's
        parting = _FRIENDLY_PARTING if agreement.is_friendly else _PARTING
        return PersonSeat(self._game, partial(PutAside, parting), _ASIDE, agrees=self._options.agrees)

    async def _drive_friendly(self, agreement: Agreement, seat: PlayerSeat, match: Match) -> Channel:
        assembly, patience = FriendlyAssembly(self._game, agreement), self._options.patience
        async with connect(self._options.relay) as connection:
            # who has ended the game and gone greets nobody
            messenger = messenger_on(connection, _table_of(agreement), self._wallet.key)
            return await self._play_node.drive_friendly(assembly, messenger, seat, match, patience)

    async def _drive(
        self,
        venue: ChainVenue,
        agreement: Agreement,
        stored: JournalChannel | None,
        seat: PlayerSeat,
        match: Match,
    ) -> Channel:
        if stored is None:
            index = agreement.fixed_part.participants.index(self._wallet.key.address)
            await when_answered(lambda: venue.require_playable(agreement, index), seat.output.note)
            assembly = await when_answered(lambda: venue.assemble(agreement), seat.output.note)
            confirmations = venue.confirmations
        else:
            assembly = stored.assembly(venue.chains[0], venue.chains[1:])
            confirmations = stored.metadata.confirmations
        table, options = _table_of(agreement), self._options
        messenger = messenger_for(options.relay, table, self._wallet.key, seat.output.say, is_new=stored is None)
        return await self._play_node.drive(assembly, confirmations, messenger, seat, match, options.towers)

    def _say_result(self, channel: Channel, seen: EndObserver) -> None:
        """Print what was paid to whom, the difference to our deposit, and the cost. Raises `NeverFunded` where there
        was no money to play for."""
        if channel.agreement.is_friendly:
            self._terminal.say("result      The game is over, and both have signed its end. Nothing was at stake.")
        else:
            result = seen.of(channel, int(time.time()))
            for messenger in end_lines(result, channel.index, seen):
                self._terminal.say(messenger)
        self._terminal.say(f"channel     {hex_text(channel.agreement.channel_id)}")
        if not channel.agreement.is_friendly and result.ending is Ending.UNFUNDED:
            raise NeverFunded(channel.agreement.channel_id, result.shares[channel.index].payable)


def _table_of(agreement: Agreement) -> TableTerms:
    return TableTerms(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
