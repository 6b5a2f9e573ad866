"""The playground's channels as pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from forcemove.browser.pages import ChangeSignal
from forcemove.browser.templating import PlayedGame
from forcemove.browser.view import ChannelView
from forcemove.history.overview import overview
from forcemove.inspect.journal_channel import JournalChannel, read_channels, read_journal_channel
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.playground.buttons import groups_of, press
from forcemove.playground.playground import Playground
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.channel import OVER
from forcemove.text.situation.turn import turn_text


class PlaygroundPages:
    """The `PageSource` of a playground."""

    def __init__(
        self, playground: Playground, clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        """`clock`: the playground's, seconds; `wall`: Unix seconds."""
        self.changes = ChangeSignal()
        self._playground, self._clock, self._wall = playground, clock, wall
        self._awake = asyncio.Event()
        self._revision = -1
        self._notice = ""

    @property
    def path(self) -> str:
        """See `PageSource`: that of the game that is played."""
        return f"/c/{hex_text(self._playground.channel.agreement.channel_id)}"

    async def run(self) -> None:
        """See `PageSource`."""
        while True:
            self._playground.poll()
            self._notify()
            self._awake.clear()
            left = max(0.0, self._playground.next_due - self._clock())
            try:
                async with asyncio.timeout(left):
                    await self._awake.wait()
            except TimeoutError:
                pass

    def _notify(self) -> None:
        if self._playground.revision != self._revision:
            self._revision = self._playground.revision
            self.changes.notify()

    # --------------------------------------------------------------------------------------------------------- looking

    @property
    def games(self) -> tuple[PlayedGame, ...]:
        """See `PageSource`."""
        playground = self._playground
        match, channel = playground.match, playground.channel
        phase, is_asked = channel.phase(playground.now), match.person.is_asked
        if phase in OVER:
            return ()
        text = turn_text(match.game, channel, phase, playground.names, is_asked=is_asked)
        return (PlayedGame(self.path, text, is_asked),)

    def rows(self) -> tuple[Sequence[ListedChannel], int]:
        """See `PageSource`."""
        playground = self._playground
        found, _ = read_channels(playground.players[0].journal, playground.games)
        return [each.listed(playground.now) for each in found], playground.now

    def view(self, channel_id: bytes, at: int | None, form_token: str) -> ChannelView | None:
        """See `PageSource`."""
        playground = self._playground
        if channel_id != playground.channel.agreement.channel_id:
            return self._earlier(channel_id, at, form_token)
        return ChannelView(
            playground.match.game,
            playground.channel,
            playground.history(channel_id),
            playground.overview(),
            playground.now,
            int(self._wall()),
            playground.names,
            playground.own,
            self.path,
            at,
            form_token,
            groups_of(playground),
            playground.guide,
            self._notice,
            playground.match.person.chosen_turn,
            leave_cost=playground.match.person.leave_cost,
        )

    def _earlier(self, channel_id: bytes, at: int | None, form_token: str) -> ChannelView | None:
        """A game that was played before."""
        playground = self._playground
        stored = playground.players[0].journal.load(channel_id)
        found: JournalChannel | None = None if stored is None else read_journal_channel(stored, playground.games)
        if found is None or found.game is None:
            return None
        history = playground.history(channel_id)
        return ChannelView(
            found.game,
            found.channel,
            history,
            overview(found.channel, history, playground.now),
            playground.now,
            int(self._wall()),
            playground.names,
            b"",
            f"/c/{hex_text(channel_id)}",
            at,
            form_token,
        )

    # ----------------------------------------------------------------------------------------------------------- doing

    def act(self, channel_id: bytes, do: str, word: str, turn: int) -> None:
        """See `PageSource`."""
        if channel_id == self._playground.channel.agreement.channel_id:
            self._show(self._playground.act(word if do == "move" else do, turn))

    def say(self, channel_id: bytes, text: str) -> None:
        """See `PageSource`: Bob is a bot, to which nothing can be said."""

    def press(self, button: str) -> str:
        """See `PageSource`."""
        before = self.path
        self._show(press(self._playground, button))
        return self.path if self.path != before else ""

    def _show(self, notice: str) -> None:
        """Show why something was not done, until something else is."""
        if notice != self._notice:
            self._notice = notice
            self._revision = -1
        self._notify()
        self._awake.set()
