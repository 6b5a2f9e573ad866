"""Plays a channel over a connection: one of the journal's, or one that was just agreed on."""

from __future__ import annotations

from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.channel.stores import read_all
from forcemove.channel.cli.match.match import Match, is_unpaid
from forcemove.channel.cli.match.reach import telling_of_reach
from forcemove.channel.cli.match.scenes import NAMES
from forcemove.channel.cli.match.seats import BotSeat, PersonSeat, Seat
from forcemove.channel.cli.play.driving import drive_for_money, drive_friendly
from forcemove.channel.cli.play.meeting import Meeting
from forcemove.channel.cli.play.terms import ChainGround, agreement_of
from forcemove.channel.cli.play.wishes import Purse, Wishes
from forcemove.channel.cli.terminal import Terminal
from forcemove.channel.game import Game
from forcemove.channel.inspect.kept import KeptChannel
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.line.connect import Connection
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.channel import Channel
from forcemove.channel.protocol.encoding import NO_CHAIN
from forcemove.channel.protocol.json_text import hex_text
from forcemove.channel.protocol.values import CHANNELS
from forcemove.channel.store.journal import Journal
from forcemove.channel.store.records import Kept, Standing

__all__ = ["ChannelPlay"]

_PARTING = "The game goes on without you: be back before a challenge can run out."
_FRIENDLY_PARTING = "You have put the game aside."


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

    async def go_on(self, connection: Connection) -> bool:
        """See `playing.Play`: the first open channel of this game, chain and key."""
        found, _ = read_all(self._journal)
        kept = next((each for each in found if self._is_ours(each)), None)
        if kept is None:
            return False
        self._terminal.say(f"Going on with the open channel of {self._journal.where}.")
        await self._play(connection, kept.channel.agreement, kept)
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
            self._say_result(CHANNELS.decode(kept.snapshot))

    def _load(self, meeting: Meeting) -> Kept | None:
        return self._journal.load(agreement_of(meeting.offer, meeting.join, self._game).channel_id)

    async def begin(self, connection: Connection, meeting: Meeting) -> None:
        """Play what was agreed on to its end."""
        await self._play(connection, agreement_of(meeting.offer, meeting.join, self._game), None)

    async def _play(self, connection: Connection, agreement: Agreement, kept: KeptChannel | None) -> None:
        participants = agreement.fixed_part.participants
        number = participants.index(self._purse.key.address)
        self._terminal.say(f"You are the {NAMES[number].lower()} in channel {hex_text(agreement.channel_id)}.")
        table = Table(TableKind.CHANNEL, participants, agreement.channel_id)
        transport = await connection.join(table, self._purse.key)
        # What was said before is made good by a greeting, but by a player who has ended a friendly game and gone.
        line = ChannelLine(transport, transport.length() if kept and not agreement.is_friendly else 0)
        seat = self._seat(agreement, number)
        match = Match(self._game, seat.choose, self._wishes.patience, seat.voice)
        try:
            async with telling_of_reach(connection, seat.voice.say):
                channel = await self._drive(agreement, kept, line, seat, match)
        finally:
            self._terminal.close()
        self._say_result(channel)

    def _seat(self, agreement: Agreement, number: int) -> Seat:
        if self._wishes.rounds is not None:
            return BotSeat(self._game, number, self._wishes.rounds, agreement.count, self._terminal, self._wishes.pace)
        self._terminal.close()  # the screen is the person's
        return PersonSeat(self._game, _FRIENDLY_PARTING if agreement.is_friendly else _PARTING)

    async def _drive(
        self, agreement: Agreement, kept: KeptChannel | None, line: ChannelLine, seat: Seat, match: Match
    ) -> Channel:
        journal, purse, ground = self._journal, self._purse, self._ground
        if ground is None:
            return await drive_friendly(journal, agreement, purse, self._game, line, seat, match, self._wishes.lease)
        assembly = kept.assembly(ground.chain) if kept else ground.assemble(agreement)
        confirmations = kept.about.confirmations if kept else ground.confirmations
        wishes = self._wishes
        return await drive_for_money(
            journal, assembly, confirmations, purse, line, seat, match, wishes.towers, wishes.lease
        )

    def _say_result(self, channel: Channel) -> None:
        """What we were paid, and what that is more or less than we had paid in."""
        id_, paid = hex_text(channel.agreement.channel_id), _agreed_pay(channel)
        if channel.agreement.is_friendly:
            self._terminal.say("result      The game is over, and both have signed its end. Nothing was at stake.")
        elif paid is None:
            self._terminal.say("result      The chain has decided, not a final state that both have signed.")
            self._terminal.say(f"            `forcemove inspect {id_} --chain URL` shows what was paid.")
        else:
            won = paid - channel.agreement.deposits[0][1][channel.index]
            result = "are even" if not won else f"{'win' if won > 0 else 'lose'} {format_amount(abs(won))}"
            self._terminal.say(f"result      You {result}; {format_amount(paid)} was paid to you.")
        self._terminal.say(f"channel     {id_}")


def _agreed_pay(channel: Channel) -> int | None:
    """What the final state pays us, in wei; None where not all have signed one."""
    newest = channel.newest
    if newest is None or not newest.state.is_final or len(newest.signed.signatures) < channel.agreement.count:
        return None
    return newest.state.outcome[channel.index].amount
