"""A journal's channels as pages: the one that a person plays at a table, and all others to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forcemove.browser.pages import ChangeSignal
from forcemove.browser.security import RequestRefused
from forcemove.browser.view import ChannelView
from forcemove.game import Choice, Game, Names
from forcemove.history.history import ChannelHistory, decode_history
from forcemove.history.overview import overview
from forcemove.inspect.journal_channel import JournalChannel, ListedChannel, read_channels, read_journal_channel
from forcemove.node.policy import usual_gas
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.channel import Channel
from forcemove.store.journal import Journal
from forcemove.tables.meetings.stored import signed_names
from forcemove.tables.playing.person import Person
from forcemove.tables.playing.rounds import with_counts
from forcemove.text.names import shown_names

__all__ = ["TablePages"]

_TICK = 1.0
"""Seconds between two looks at what changes without a commit: a phase, by the chain's clock."""


@dataclass(frozen=True)
class _Seated:
    """Who plays which channel."""

    game: Game
    channel_id: bytes
    names: Names
    person: Person


class TablePages:
    """The `PageSource` of a journal. Everything is asked for in the event loop's thread."""

    def __init__(self, journal: Journal, games: Sequence[Game], wall: Callable[[], float] = time.time) -> None:
        """Show what the journal has; nobody plays yet.

        - `journal`: has the channels and their histories.
        - `games`: those that are installed; channels of other games are listed, and have no page.
        - `wall`: Unix seconds.
        """
        self.changes = ChangeSignal()
        self._journal, self._games, self._wall = journal, tuple(games), wall
        self._seated: _Seated | None = None
        self._notice = ""
        self.on_seated: Callable[[], None] = lambda: None
        """Is called when a person has sat down."""

    def seat(self, game: Game, agreement: Agreement, person: Person) -> None:
        """Let the page decide for this person, too, who plays the channel of an agreement."""
        signed = signed_names(self._journal, agreement)
        names = shown_names(signed, agreement.fixed_part.participants)
        self._seated, self._notice = _Seated(game, agreement.channel_id, names, person), ""
        self.on_seated()
        self.changes.notify()

    def leave_seat(self) -> None:
        """The game is over, or was put aside: its page stays, and decides nothing."""
        self._seated = None
        self.changes.notify()

    def on_committed(self, _: object) -> None:
        """A channel was saved. See `Node.on_committed`."""
        self.changes.notify()

    async def run(self) -> None:
        """See `PageSource`."""
        seen: tuple[object, ...] = ()
        while True:
            played = self._played()
            now = () if played is None else (played[0].next_turn, played[0].phase(played[1]), self._options())
            if now != seen:
                seen = now
                self.changes.notify()
            await self.changes.after(self.changes.number, _TICK)

    # --------------------------------------------------------------------------------------------------------- looking

    @property
    def path(self) -> str:
        """See `PageSource`: that of the channel that is played, else the list."""
        return "/" if self._seated is None else f"/c/{hex_text(self._seated.channel_id)}"

    def rows(self) -> tuple[Sequence[ListedChannel], int]:
        """See `PageSource`."""
        found, _ = read_channels(self._journal, self._games)
        played = self._played()
        now = int(self._wall()) if played is None else played[1]
        return [each.listed(now) for each in found], now

    def view(self, channel_id: bytes, at: int | None, form_token: str) -> ChannelView | None:
        """See `PageSource`."""
        seated, played = self._seated, self._played()
        if seated is not None and played is not None and seated.channel_id == channel_id:
            channel, now = played
            own = with_counts(channel.secrets)[1]
            choices = seated.person.choices
            return self._view(seated.game, channel, now, seated.names, own, choices, at, form_token, self._notice)
        stored = self._journal.load(channel_id)
        found: JournalChannel | None = None if stored is None else read_journal_channel(stored, self._games)
        if found is None or found.game is None:
            return None
        agreement = found.channel.agreement
        names = shown_names(signed_names(self._journal, agreement), agreement.fixed_part.participants)
        return self._view(found.game, found.channel, int(self._wall()), names, b"", (), at, form_token, "")

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
        history = self._history(id_)
        gas = {} if channel.agreement.is_friendly else usual_gas(game)
        seen = overview(channel, history, now, choices=choices, gas=gas)
        path = f"/c/{hex_text(id_)}"
        wall = int(self._wall())
        return ChannelView(game, channel, history, seen, now, wall, names, own, path, at, form_token, notice=notice)

    def _history(self, channel_id: bytes) -> ChannelHistory:
        return decode_history(self._journal.history(channel_id).bodies)

    def _played(self) -> tuple[Channel, int] | None:
        """The channel that is played as the person sees it, and the chain's time."""
        played = None if self._seated is None else self._seated.person.played
        return None if played is None else (played.channel, played.time())

    def _options(self) -> tuple[str, ...]:
        return () if self._seated is None else tuple(word for word, _ in self._seated.person.options)

    # ----------------------------------------------------------------------------------------------------------- doing

    def act(self, channel_id: bytes, do: str, word: str, turn: int) -> None:
        """See `PageSource`. A move for an earlier turn is made already, or late: nothing happens then."""
        seated, played = self._seated, self._played()
        if seated is None or played is None or seated.channel_id != channel_id:
            self._notice = "Nobody plays this channel here now."
        elif turn == played[0].next_turn:
            wanted = word if do == "move" else do
            self._notice = (
                seated.person.take(wanted, agrees=True) if wanted in self._options() else "That is not possible now."
            )
        elif do != "move" and self._options():
            self._notice = "The game has gone on meanwhile: look at what follows now, and click again."
        self.changes.notify()

    def press(self, button: str) -> str:
        """See `PageSource`: there is no playground here. Raises `RequestRefused`."""
        raise RequestRefused(404, f"There is no button {button!r:.40}.")
