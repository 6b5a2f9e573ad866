"""One table of several, as anyone who looks at all of them sees it: what is waited for, what was said, how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum

from forcemove.game import Game
from forcemove.protocol.agreement import Agreement
from forcemove.sessions.playing.content import TableContent
from forcemove.sessions.ports import Output, PlayerSeat
from forcemove.transport.links import Link, link_text
from forcemove.transport.offers import Offer

_LINES = 20
Sit = Callable[[Game, Agreement, Output, Callable[[], None]], PlayerSeat]
"""Gives a channel of this game and agreement its player, who is shown by the output what happens. The function is
called when the player has taken the channel, which is driven from then on."""


class TableState(Enum):
    """How far a table is. `WAITING`: for the other players, the relay or the chain; `PLAYING`: its channel is driven;
    `OVER`: its game has ended; `FAILED`: an error has ended it, see `RunningTable.error`."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"
    FAILED = "failed"


class RunningTable:
    """A table of several, and its `TablePort`.

    `number`: of the table, from 1; `title`: of its game; `relay`: its address, without a password; `is_ours`: whether
    we are the host; `offer`: the offer, once it is known; `invitation`: what a friend is handed, once our own offer is
    in the lobby; `state`; `waits_for`: what is waited for; `lines`: the newest that were said; `agreement`: of the
    channel, once there is one; `game_name`: of its game; `is_driven`: whether the channel is, or was, driven here;
    `error`: what has ended the table.
    """

    def __init__(
        self,
        number: int,
        title: str,
        relay: str,
        sit: Sit,
        leave: Callable[[bytes], None],
        output: Output,
        on_change: Callable[[], None],
    ) -> None:
        """Open a table where nothing has happened yet.

        - `number`: of the table.
        - `title`: of its game.
        - `relay`: its address, without a password.
        - `sit`: gives the channel its player.
        - `leave`: is called with the channel's id when its game is over, or was put aside.
        - `output`: is given each line, with the table's number.
        - `on_change`: is called when anything of the table has changed.
        """
        self.number, self.title, self.relay = number, title, relay
        self._sit, self._leave, self._output, self._on_change = sit, leave, output, on_change
        self.is_ours = True
        self.offer: Offer | None = None
        self.invitation = ""
        self.state, self.waits_for = TableState.WAITING, ""
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.agreement: Agreement | None = None
        self.is_driven, self.game_name = False, ""
        self.error: Exception | None = None

    @property
    def can_withdraw(self) -> bool:
        """Whether the table can be given up: nothing binds us yet."""
        return self.state is TableState.WAITING and self.offer is not None and self.agreement is None

    @property
    def is_ended(self) -> bool:
        """Whether nothing more happens at this table."""
        return self.state in (TableState.OVER, TableState.FAILED)

    def end(self, error: Exception | None = None) -> None:
        """The table has ended. `error`: what has ended it before its game was over."""
        self.state, self.error = TableState.OVER if error is None else TableState.FAILED, error
        self.waits_for = ""
        self._on_change()

    # -------------------------------------------------------------------------------------------------------- the port

    def say(self, text: str) -> None:
        """See `Output`."""
        self._output.say(f"table {self.number}  {text}")
        self._add(text)

    def note(self, text: str) -> None:
        """See `Output`."""
        self._output.note(f"table {self.number}  {text}")
        self._add(text)

    def _add(self, text: str) -> None:
        self.lines.append(text)
        self._on_change()

    def show(self, content: TableContent) -> None:
        """See `Output`: a screen of its own shows the game."""

    def status(self, text: str) -> None:
        """See `TablePort`."""
        if text != self.waits_for:
            self.waits_for = text
            self._on_change()

    def invite(self, offer: Offer, link: Link, page: str) -> None:
        """See `TablePort`."""
        self.offer, self.invitation = offer, link_text(link, page)
        self._on_change()

    async def agree(self, offer: Offer) -> None:
        """See `TablePort`: the player has agreed to the terms before the table was opened."""
        self.offer = offer

    def take_seat(self, game: Game, agreement: Agreement, index: int) -> PlayerSeat:  # noqa: ARG002  # the port's
        """See `TablePort`."""
        self.agreement, self.game_name = agreement, game.name
        self.status("All have met: the channel is prepared")
        return self._sit(game, agreement, self, self._on_driven)

    def _on_driven(self) -> None:
        """The channel is driven from now on, and can be looked at."""
        self.state, self.waits_for, self.is_driven = TableState.PLAYING, "", True
        self._on_change()

    def take_log_seat(self, other: str) -> None:
        """See `TablePort`: games over a log are not played here."""

    def leave_seat(self) -> None:
        """See `TablePort`."""
        if self.agreement is not None:
            self._leave(self.agreement.channel_id)
