"""Plays a game in channels: one of the journal's, or one that was just agreed on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from forcemove.game import Game, Names
from forcemove.history.tokens import Tokens
from forcemove.inspect.journal_channel import JournalChannel, read_channels
from forcemove.node.friendly import FriendlyAssembly
from forcemove.node.histories import load_history
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import Ending, is_unpaid
from forcemove.rounds import RoundCount, score_line
from forcemove.sessions.chat import TableChat
from forcemove.sessions.errors import NeverFunded
from forcemove.sessions.meetings.meeting import Meeting
from forcemove.sessions.meetings.stored import agreed_move_time, signed_names
from forcemove.sessions.meetings.terms import agreement_of
from forcemove.sessions.meetings.venues import GameOnChain
from forcemove.sessions.messenger_tasks import messenger_for
from forcemove.sessions.options import TableOptions
from forcemove.sessions.playing.ends import EndObserver, end_lines
from forcemove.sessions.playing.played_channel import PlayedChannel
from forcemove.sessions.ports import PlayerSeat, TablePort
from forcemove.sessions.service import TableService
from forcemove.sessions.standby import when_answered
from forcemove.store.errors import JournalDamaged
from forcemove.store.records import OVER, Ownership, StoredChannel
from forcemove.text.names import full_name, seat_title, shown_names
from forcemove.transport.connect import connect_relay, messenger_on
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.offers import MIN_SEATS
from forcemove.transport.terms import TableKind, TableTerms


class ChannelGameRunner:
    """Plays one game in channels."""

    def __init__(
        self, service: TableService, game: Game, venue: GameOnChain | None, options: TableOptions, port: TablePort
    ) -> None:
        """Take the parts of the table.

        - `service`: drives the channels.
        - `game`: the game to play.
        - `venue`: the chain that is played on; None for friendly games.
        - `options`: of the table.
        - `port`: the one who sits at the table.
        """
        self._service, self._game, self._venue, self._options, self._port = service, game, venue, options, port
        self._journal, self._key = service.journal, service.wallet.key

    async def go_on(self, channel_id: bytes | None = None) -> bool:
        """Play an open channel of this game, chain and key that no other table has to its end; whether there was one.
        `channel_id`: the only channel to play; None for the first."""
        found, _ = read_channels(self._journal, self._service.games, Ownership.ACTIVE)
        ours = (each for each in found if channel_id in (None, each.id) and self._is_ours(each))
        stored = next((each for each in ours if self._service.claim(each.id, self)), None)
        if stored is None:
            return False
        self._port.say(f"Continuing the open channel of {self._journal.where}.")
        await self._play(stored.channel.agreement, stored)
        return True

    def _is_ours(self, stored: JournalChannel) -> bool:
        if not stored.is_open or (self._options.from_scratch and is_unpaid(stored.channel)):
            return False
        chain_id = self._venue.chain_id if self._venue else NO_CHAIN
        is_same = stored.game is not None and stored.game.name == self._game.name
        return is_same and stored.is_of(chain_id, self._key.address)

    def is_stored(self, meeting: Meeting) -> bool:
        """Whether the journal has the game of a meeting."""
        return self._load(meeting) is not None

    def is_over(self, meeting: Meeting) -> bool:
        """Whether the game of a meeting is over; not of one that is damaged, which keeps no other game from being
        continued."""
        with suppress(JournalDamaged):
            stored = self._load(meeting)
            return stored is not None and stored.ownership in OVER
        return False

    def report_end(self, meeting: Meeting) -> None:
        """Show how the game of a meeting has ended."""
        stored = self._load(meeting)
        if stored is not None:
            self._port.say("The game is over that this command has begun before.")
            names = shown_names(meeting.names, meeting.players)
            channel = CHANNELS.decode(stored.snapshot)
            history = load_history(self._journal, channel.agreement.channel_id)
            tokens = () if self._venue is None or self._venue.token is None else (self._venue.token,)
            score = score_line(RoundCount(self._game, history.states).results, names, channel.index)
            self._say_result(channel, EndObserver(), names, score, tokens)

    def _load(self, meeting: Meeting) -> StoredChannel | None:
        return self._journal.load(agreement_of(meeting.offer, meeting.joins, self._game).channel_id)

    async def begin(self, meeting: Meeting) -> None:
        """Play the game of a meeting, from its beginning, to its end."""
        agreement = agreement_of(meeting.offer, meeting.joins, self._game)
        self._service.claim(agreement.channel_id, self)
        await self._play(agreement, None)

    async def _play(self, agreement: Agreement, stored: JournalChannel | None) -> None:
        players = agreement.fixed_part.participants
        index, signed = players.index(self._key.address), signed_names(self._journal, agreement)
        for line in _seat_lines(agreement, index, signed):
            self._port.say(line)
        seat = self._port.take_seat(self._game, agreement, index)
        names, move_time = shown_names(signed, players), agreed_move_time(self._journal, agreement)
        match = PlayedChannel(self._game, seat.choose, self._options.patience, seat.output, names, move_time=move_time)
        try:
            if self._venue is None:
                channel = await self._drive_friendly(agreement, seat, match)
            else:
                channel = await self._drive(self._venue, agreement, stored, seat, match)
        finally:
            self._port.leave_seat()
        self._say_result(channel, match.end_observer, match.names, match.score, match.tokens)

    async def _drive_friendly(self, agreement: Agreement, seat: PlayerSeat, match: PlayedChannel) -> Channel:
        assembly, patience = FriendlyAssembly(self._game, agreement), self._options.patience
        async with connect_relay(self._options.relay) as connection:
            # who has ended the game and gone greets nobody
            messenger = messenger_on(connection, _table_of(agreement), self._key)
            self._join_chat(agreement, messenger, seat, match)
            return await self._service.drive_friendly(assembly, messenger, seat, match, patience)

    async def _drive(
        self,
        venue: GameOnChain,
        agreement: Agreement,
        stored: JournalChannel | None,
        seat: PlayerSeat,
        match: PlayedChannel,
    ) -> Channel:
        if stored is None:
            index = agreement.fixed_part.participants.index(self._key.address)
            await when_answered(lambda: venue.require_playable(agreement, index), seat.output.note)
            assembly = await when_answered(lambda: venue.assemble(agreement), seat.output.note)
            confirmations = venue.confirmations
        else:
            assembly = stored.assembly(venue.chains[0], venue.chains[1:])
            confirmations = stored.metadata.confirmations
        table, relay = _table_of(agreement), self._options.relay
        messenger = messenger_for(relay, table, self._key, seat.output.say, is_new=stored is None)
        self._join_chat(agreement, messenger, seat, match)
        return await self._service.drive(assembly, confirmations, messenger, seat, match)

    def _join_chat(
        self, agreement: Agreement, messenger: ChannelMessenger, seat: PlayerSeat, match: PlayedChannel
    ) -> None:
        match.chat = TableChat(messenger, _table_of(agreement), self._key, match.names, seat.output.say)
        seat.join_chat(match.chat)

    def _say_result(self, channel: Channel, seen: EndObserver, names: Names, score: str, tokens: Tokens) -> None:
        """Show what was paid to whom, the difference to our deposit, and the cost. Raises `NeverFunded` where there
        was no money to play for."""
        if channel.agreement.is_friendly:
            self._port.say(f"result      {self._friendly_end(channel)} Nothing was at stake.")
            if score:
                self._port.say(f"score       {score}")
        else:
            result = seen.of(channel, int(time.time()))
            for line in end_lines(result, channel.index, seen, names, score, tokens):
                self._port.say(line)
        self._port.say(f"channel     {hex_text(channel.agreement.channel_id)}")
        if not channel.agreement.is_friendly and result.ending is Ending.UNFUNDED:
            raise NeverFunded(channel.agreement.channel_id, result.shares[channel.index].payable)

    def _friendly_end(self, channel: Channel) -> str:
        stored = self._journal.load(channel.agreement.channel_id)
        if stored is not None and stored.ownership is Ownership.PUT_AWAY:
            return "You have put the game away, unfinished."
        who = "both" if channel.agreement.count == MIN_SEATS else "all"
        return f"The game is over, and {who} have signed its end."


def _table_of(agreement: Agreement) -> TableTerms:
    return TableTerms(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)


def _seat_lines(agreement: Agreement, index: int, signed: Sequence[str]) -> Iterator[str]:
    """Which seat we have in which channel; and who plays, where there are names, or more than two. `signed`: the
    players' names as they have signed them."""
    players, id_ = agreement.fixed_part.participants, hex_text(agreement.channel_id)
    if len(players) == MIN_SEATS:
        yield f"You are the {seat_title(index, MIN_SEATS).lower()} in channel {id_}."
    else:
        yield f"You have seat {index + 1} of {len(players)} in channel {id_}."
    if len(players) > MIN_SEATS or any(signed):
        yield f"players     {', '.join(map(full_name, signed, players))}"
