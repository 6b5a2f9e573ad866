"""Plays a channel over a connection: one of the journal's, or one that was just agreed on."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from functools import partial
from typing import Any

from forcemove.cli.channel.stores import read_all
from forcemove.cli.match.ends import EndSeen, end_lines
from forcemove.cli.match.match import Match, is_unpaid
from forcemove.cli.match.scenes import NAMES
from forcemove.cli.match.screen import PutAside
from forcemove.cli.match.seats import BotSeat, PersonSeat, Seat
from forcemove.cli.play.carrying import line_for
from forcemove.cli.play.driving import Guard, drive_friendly
from forcemove.cli.play.errors import NeverFunded
from forcemove.cli.play.meeting import Meeting
from forcemove.cli.play.standby import when_answered
from forcemove.cli.play.terms import ChainGround, agreement_of
from forcemove.cli.play.wishes import Purse, Wishes
from forcemove.cli.terminal import Terminal
from forcemove.game import Game
from forcemove.inspect.kept import KeptChannel
from forcemove.line.connect import connect, line_on
from forcemove.line.terms import Table, TableKind
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.channel import Channel
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.json_text import hex_text
from forcemove.protocol.results import Ending
from forcemove.protocol.values import CHANNELS
from forcemove.store.journal import Journal
from forcemove.store.records import Kept, Standing

__all__ = ["ChannelPlay"]

_PARTING = "The game goes on without you: be back before a challenge can run out."
_FRIENDLY_PARTING = "You have put the game aside."
_ASIDE = "the game is put aside; the same command goes on with it."


class ChannelPlay:
    """Of one game. `ground`: None for friendly games."""

    def __init__(
        self,
        game: Game,
        ground: ChainGround | None,
        wishes: Wishes,
        purse: Purse,
        journal: Journal,
        terminal: Terminal,
    ) -> None:
        self._game, self._ground, self._wishes, self._purse = game, ground, wishes, purse
        self._journal, self._terminal = journal, terminal
        self._guard = Guard(journal, ground.chains, purse, wishes.lease, terminal) if ground else None

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """See `playing.Play`: where there is a chain, all that the journal has on it is defended."""
        await (main if self._guard is None else self._guard.run(main))

    @property
    def has_money(self) -> bool:
        """See `playing.Play`."""
        return self._guard is not None and self._guard.has_money

    async def go_on(self) -> bool:
        """See `playing.Play`: the first open channel of this game, chain and key."""
        found, _ = read_all(self._journal)
        kept = next((each for each in found if self._is_ours(each)), None)
        if kept is None:
            return False
        self._terminal.say(f"Going on with the open channel of {self._journal.where}.")
        await self._play(kept.channel.agreement, kept)
        return True

    def _is_ours(self, kept: KeptChannel) -> bool:
        if kept.standing is not Standing.ACTIVE or (self._wishes.anew and is_unpaid(kept.channel)):
            return False
        chain_id = self._ground.chain_id if self._ground else NO_CHAIN
        is_same = kept.game is not None and kept.game.name == self._game.name
        return is_same and kept.is_of(chain_id, self._purse.key.address)

    def is_kept(self, meeting: Meeting) -> bool:
        """See `playing.Play`."""
        return self._load(meeting) is not None

    def is_over(self, meeting: Meeting) -> bool:
        """See `playing.Play`."""
        kept = self._load(meeting)
        return kept is not None and kept.standing is Standing.FINISHED

    def tell_end(self, meeting: Meeting) -> None:
        """See `playing.Play`."""
        kept = self._load(meeting)
        if kept is not None:
            self._terminal.say("The game is over that this command has begun before.")
            self._say_result(CHANNELS.decode(kept.snapshot), EndSeen())

    def _load(self, meeting: Meeting) -> Kept | None:
        return self._journal.load(agreement_of(meeting.offer, meeting.join, self._game).channel_id)

    async def begin(self, meeting: Meeting) -> None:
        """Play what was agreed on to its end."""
        await self._play(agreement_of(meeting.offer, meeting.join, self._game), None)

    async def _play(self, agreement: Agreement, kept: KeptChannel | None) -> None:
        number = agreement.fixed_part.participants.index(self._purse.key.address)
        self._terminal.say(f"You are the {NAMES[number].lower()} in channel {hex_text(agreement.channel_id)}.")
        seat = self._seat(agreement, number)
        match = Match(self._game, seat.choose, self._wishes.patience, seat.voice)
        try:
            if self._guard is None or self._ground is None:
                channel = await self._drive_friendly(agreement, seat, match)
            else:
                channel = await self._drive(self._guard, self._ground, agreement, kept, seat, match)
        finally:
            self._terminal.close()
        self._say_result(channel, match.end_seen)

    def _seat(self, agreement: Agreement, number: int) -> Seat:
        if self._wishes.rounds is not None:
            return BotSeat(self._game, number, self._wishes.rounds, agreement.count, self._terminal, self._wishes.pace)
        self._terminal.close()  # the screen is the person's
        parting = _FRIENDLY_PARTING if agreement.is_friendly else _PARTING
        return PersonSeat(self._game, partial(PutAside, parting), _ASIDE, agrees=self._wishes.agrees)

    async def _drive_friendly(self, agreement: Agreement, seat: Seat, match: Match) -> Channel:
        key, journal = self._purse.key, self._journal
        async with connect(self._wishes.relay) as connection:
            line = line_on(connection, _table_of(agreement), key)  # who has ended the game and gone greets nobody
            lease, patience = self._wishes.lease, self._wishes.patience
            return await drive_friendly(journal, agreement, self._purse, self._game, line, seat, match, lease, patience)

    async def _drive(
        self,
        guard: Guard,
        ground: ChainGround,
        agreement: Agreement,
        kept: KeptChannel | None,
        seat: Seat,
        match: Match,
    ) -> Channel:
        if kept is None:
            index = agreement.fixed_part.participants.index(self._purse.key.address)
            await when_answered(lambda: ground.require_playable(agreement, index), seat.voice.note)
            assembly = await when_answered(lambda: ground.assemble(agreement), seat.voice.note)
            confirmations = ground.confirmations
        else:
            assembly = kept.assembly(ground.chains[0], ground.chains[1:])
            confirmations = kept.about.confirmations
        table, wishes = _table_of(agreement), self._wishes
        line = line_for(wishes.relay, table, self._purse.key, seat.voice.say, is_new=kept is None)
        return await guard.drive(assembly, confirmations, line, seat, match, wishes.towers)

    def _say_result(self, channel: Channel, seen: EndSeen) -> None:
        """What was paid to whom, what that is more or less than we had paid in, and what it has cost. Raises
        `NeverFunded` where there was nothing to play for."""
        if channel.agreement.is_friendly:
            self._terminal.say("result      The game is over, and both have signed its end. Nothing was at stake.")
        else:
            result = seen.of(channel, int(time.time()))
            for line in end_lines(result, channel.index, seen):
                self._terminal.say(line)
        self._terminal.say(f"channel     {hex_text(channel.agreement.channel_id)}")
        if not channel.agreement.is_friendly and result.ending is Ending.UNFUNDED:
            raise NeverFunded(channel.agreement.channel_id, result.shares[channel.index].payable)


def _table_of(agreement: Agreement) -> Table:
    return Table(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
