"""A journal's channels as pages: those that a person plays at tables, and all others to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from forcemove.browser.history_reader import HistoryReader
from forcemove.browser.page_seat import PageSeat
from forcemove.browser.pages import ChangeSignal
from forcemove.browser.security import PageRequestRefused
from forcemove.browser.templating import PlayedGame
from forcemove.browser.view import ChannelView
from forcemove.chain.prices import OSAKA, Prices
from forcemove.game import Choice, Game, Names
from forcemove.history.overview import ChainDepth, overview
from forcemove.history.tokens import Tokens
from forcemove.inspect.journal_channel import (
    JournalChannel,
    read_channels,
    read_journal_channel,
)
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.node.histories import load_history
from forcemove.node.policy import usual_gas
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.channel import Channel
from forcemove.sessions.meetings.stored import signed_names
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.ports import Output
from forcemove.store.records import Ownership
from forcemove.text.names import shown_names
from forcemove.text.played_games import names_of, with_scores
from forcemove.text.situation.turn import turn_text

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_TICK = 1.0
"""Seconds between two looks at what changes without a commit: a phase, by the chain's clock."""
_NOBODY = "Nobody is playing this channel here now."
_PUT_AWAY = "You have put this game away: it is unfinished, and nothing was at stake."
_GONE_ON = "The game has moved on: look at the board again, and click again."


@dataclass(frozen=True)
class _Seated:
    """Who plays a channel."""

    game: Game
    names: Names
    person: HumanPlayer

    @property
    def played(self) -> tuple[Channel, int] | None:
        """The channel as the person knows it, and its chain's time; None before it is driven."""
        played = self.person.played
        return None if played is None else (played.channel, played.time())

    def turn(self, channel: Channel, now: int) -> str:
        """Whose turn it is."""
        return turn_text(self.game, channel, channel.phase(now), self.names, is_asked=self.person.is_asked)

    @property
    def tokens(self) -> Tokens:
        """What the channel's tokens say of themselves."""
        return () if self.person.played is None else self.person.played.tokens

    @property
    def depth(self) -> ChainDepth | None:
        """How far the chain goes, and who answers; None before the channel is driven."""
        return None if self.person.played is None else self.person.played.depth

    @property
    def lines(self) -> tuple[str, ...] | None:
        """The newest lines of the chat; None where there is none."""
        return None if self.person.chat is None else tuple(self.person.chat.lines)

    @property
    def silences(self) -> tuple[float | None, ...]:
        """See `Moment`."""
        return () if self.person.chat is None else self.person.chat.presence.silences()

    @property
    def words(self) -> tuple[str, ...]:
        """What the person can do now."""
        return tuple(word for word, _ in self.person.options)


class TablePages:
    """The `PageSource` of a journal. Everything is asked for in the event loop's thread."""

    def __init__(
        self, journal: Journal, games: Sequence[Game], wall: Callable[[], float] = time.time, home: str = "/"
    ) -> None:
        """Show what the journal has; nobody plays yet.

        - `journal`: has the channels and their histories.
        - `games`: those that are installed; channels of other games are listed, and have no page.
        - `wall`: Unix seconds.
        - `home`: the page that is shown first while nothing is played.
        """
        self.changes = ChangeSignal()
        self._journal, self._games, self._wall, self._home = journal, tuple(games), wall, home
        self._histories = HistoryReader(journal)
        self._seated: dict[bytes, _Seated] = {}
        self._notices: dict[bytes, str] = {}
        self.to_sign: Callable[[bytes], Sequence[str] | None] = lambda _: None
        """What a wallet elsewhere is to sign for a channel (its id), see `Moment`."""
        self.warning: Callable[[bytes], str] = lambda _: ""
        """What the player of a channel (its id) has to know at once; empty for nothing."""
        self.copy_path = ""
        """The page on which a copy of a game for a stake is saved, empty where there is none."""
        self.on_driven: Callable[[], None] = lambda: None
        """Is called when the channel of a person who has sat down is driven: before that it may have no page."""

    def seat(self, game: Game, agreement: Agreement, person: HumanPlayer) -> None:
        """Let the page decide for this person, too, who plays the channel of an agreement."""
        signed = signed_names(self._journal, agreement)
        names = shown_names(signed, agreement.fixed_part.participants)
        self._seated[agreement.channel_id] = _Seated(game, names, person)
        self._notices.pop(agreement.channel_id, None)
        person.on_attached = self._has_begun
        is_seen = person.is_seen
        person.is_seen = lambda: is_seen() or self.changes.streams > 0
        self.changes.notify()

    def sit(self, game: Game, agreement: Agreement, output: Output, on_driven: Callable[[], None]) -> PageSeat:
        """See `Sit`: somebody who decides on the page of the channel alone."""
        seat = PageSeat(game, output, on_driven)
        self.seat(game, agreement, seat.person)
        return seat

    def _has_begun(self) -> None:
        self.on_driven()
        self.changes.notify()

    def leave_seat(self, channel_id: bytes) -> None:
        """The channel's game is over, or was put aside: its page stays, and decides nothing."""
        self._seated.pop(channel_id, None)
        self.changes.notify()

    def on_committed(self, _: object) -> None:
        """A channel was saved. See `Node.on_committed`."""
        self.changes.notify()

    async def run(self) -> None:
        """See `PageSource`."""
        seen: tuple[object, ...] = ()
        while True:
            now = tuple((*_looks(each), self.to_sign(id_), self.warning(id_)) for id_, each in self._seated.items())
            if now != seen:
                seen = now
                self.changes.notify()
            await self.changes.after(self.changes.number, _TICK)

    # --------------------------------------------------------------------------------------------------------- looking

    @property
    def path(self) -> str:
        """See `PageSource`: that of the channel that is played, the list where there are several, else `home`."""
        played = [id_ for id_, each in self._seated.items() if each.played is not None]
        if not played:
            return self._home
        return f"/c/{hex_text(played[0])}" if len(played) == 1 else "/"

    @property
    def games(self) -> tuple[PlayedGame, ...]:
        """See `PageSource`."""
        return tuple(
            PlayedGame(f"/c/{hex_text(id_)}", each.turn(*each.played), each.person.is_asked)
            for id_, each in self._seated.items()
            if each.played is not None
        )

    def rows(self) -> tuple[Sequence[ListedChannel], int]:
        """See `PageSource`."""
        found, _ = read_channels(self._journal, self._games)
        times = [each.played[1] for each in self._seated.values() if each.played is not None]
        now = max(times, default=int(self._wall()))
        listed = (each.listed(now) for each in found)
        return with_scores(listed, partial(load_history, self._journal)), now

    def view(self, channel_id: bytes, at: int | None, form_token: str) -> ChannelView | None:
        """See `PageSource`."""
        seated, notice = self._seated.get(channel_id), self._notices.get(channel_id, "")
        if seated is not None and seated.played is not None:
            channel, now = seated.played
            seen = seated.names, channel.secrets, seated.person.choices
            found = self._view(seated.game, channel, now, *seen, at, form_token, notice)
            chosen = seated.person.chosen_turn
            return replace(
                found,
                chat=seated.lines,
                tokens=seated.tokens,
                depth=seated.depth,
                silences=seated.silences,
                chosen_turn=chosen,
                leave_cost=seated.person.leave_cost,
                move_time=seated.person.clock.move_time,
                move_left=seated.person.clock.left(),
                to_sign=self.to_sign(channel_id),
                warning=self.warning(channel_id),
                copy_path="" if channel.agreement.is_friendly else self.copy_path,
            )
        stored = self._journal.load(channel_id)
        kept: JournalChannel | None = None if stored is None else read_journal_channel(stored, self._games)
        if kept is None or kept.game is None:
            return None
        seen = names_of(kept), b"", ()
        found = self._view(kept.game, kept.channel, int(self._wall()), *seen, at, form_token, notice)
        is_away = kept.ownership is Ownership.PUT_AWAY
        guide = _PUT_AWAY if is_away else ""
        return replace(found, tokens=kept.tokens, guide=guide, to_sign=self.to_sign(channel_id))

    def _view(
        self,
        game: Game,
        channel: Channel,
        now: int,
        names: Names,
        own: bytes,
        choices: Sequence[Choice],
        at: int | None,
        form_token: str,
        notice: str,
    ) -> ChannelView:
        id_ = channel.agreement.channel_id
        history = self._histories.read(id_, self.changes.number)
        gas = usual_gas(channel.agreement, game, self._prices(id_))
        seen = overview(channel, history, now, choices=choices, gas=gas)
        path = f"/c/{hex_text(id_)}"
        wall = int(self._wall())
        return ChannelView(game, channel, history, seen, now, wall, names, own, path, at, form_token, notice=notice)

    def _prices(self, channel_id: bytes) -> Prices:
        """What gas costs, as the program knows that drives the channel, else today."""
        seated = self._seated.get(channel_id)
        return OSAKA if seated is None or seated.person.played is None else seated.person.played.prices

    # ----------------------------------------------------------------------------------------------------------- doing

    def act(self, channel_id: bytes, do: str, word: str, turn: int) -> None:
        """See `PageSource`. A move for an earlier turn is made already, or late: nothing happens then."""
        seated = self._seated.get(channel_id)
        notice = _NOBODY if seated is None or seated.played is None else _act(seated, do, word, turn)
        if notice is not None:
            self._notices[channel_id] = notice
        self.changes.notify()

    def say(self, channel_id: bytes, text: str) -> None:
        """See `PageSource`."""
        seated = self._seated.get(channel_id)
        chat = None if seated is None else seated.person.chat
        self._notices[channel_id] = _NOBODY if chat is None else chat.say(text)
        self.changes.notify()

    def press(self, button: str) -> str:
        """See `PageSource`: there is no playground here. Raises `PageRequestRefused`."""
        raise PageRequestRefused(404, f"There is no button {button!r:.40}.")


def _looks(seated: _Seated) -> tuple[object, ...]:
    """What changes without a commit."""
    if seated.played is None:
        return ()
    channel, now = seated.played
    presence = seated.person.chat and seated.person.chat.presence.state
    is_out = seated.person.clock.left() <= 0
    return channel.next_turn, channel.phase(now), seated.words, seated.lines, seated.depth, presence, is_out


def _act(seated: _Seated, do: str, word: str, turn: int) -> str | None:
    """Do what a person has decided; why that was not done, or None where the decision comes late."""
    if seated.played is None or turn != seated.played[0].next_turn:
        return _GONE_ON if do != "move" and seated.words else None
    wanted = word if do == "move" else do
    if wanted in seated.words:
        return seated.person.take(wanted, agrees=True)
    return None if seated.person.has_decided(wanted) else "That is not possible right now."
