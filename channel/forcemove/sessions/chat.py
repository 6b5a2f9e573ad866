"""What the players of one channel say to each other: sends our lines, and shows those of the others."""

from __future__ import annotations

import time
import unicodedata
from collections import deque
from collections.abc import Callable

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.game import Names
from forcemove.protocol.signing import Key
from forcemove.serving.rate import Bucket
from forcemove.sessions.presence import TablePresence, seconds_asleep_too
from forcemove.text.harmless import harmless
from forcemove.transport.chat import MAX_CHAT, ChatLine, SignedChat
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.terms import TableTerms

_KEPT = 8
"""Lines that a page shows."""
_LINES_PER_SECOND, _AT_ONCE = 0.5, 5.0
"""How fast a player may send, and how fast the lines of all others together are shown. More are passed over unread."""
_SIGNS_PER_SECOND, _SIGNS_AT_ONCE = 1.0, 60.0
"""The same of lines that only say that their senders are there: many come at once from a log."""
_SIGN_SECONDS, _LEFT_ALONE_SECONDS = 15.0, 3_600.0
"""Seconds between two signs that we are there; and after which none is sent, where nobody does anything: a screen that
was forgotten would fill the table's log."""
_MICROSECONDS = 1_000_000


class TableChat:
    """The `Chat` of one channel's table. A line is shown once, and only if another player of the table has signed it.
    What is wrong with others' lines is not a fault in the game: such a line is passed over. `lines`: the newest
    lines; `presence`: when the others were heard from; `is_seen`: says whether a screen is open at our seat."""

    def __init__(
        self,
        messenger: ChannelMessenger,
        table: TableTerms,
        key: Key,
        names: Names,
        show: Callable[[str], None],
        clock: Callable[[], float] = seconds_asleep_too,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Take over the messenger's chat.

        - `messenger`: carries the channel's messages.
        - `table`: of the channel.
        - `key`: ours, which signs our lines.
        - `names`: the players', by seat.
        - `show`: is called with each line to show.
        - `clock`: seconds that do not go back.
        - `wall`: Unix seconds.
        """
        self._messenger, self._table, self._key = messenger, table, key
        self._names, self._output, self._clock, self._wall = names, show, clock, wall
        self.presence = TablePresence(len(table.participants), clock, wall)
        self.is_seen: Callable[[], bool] = lambda: False
        self._acted, self._last_sign = clock(), clock() - _SIGN_SECONDS
        self.lines: deque[str] = deque(maxlen=_KEPT)
        self._shown = dict.fromkeys(table.participants, -1)
        self._ours = Bucket(_LINES_PER_SECOND, clock(), _AT_ONCE)
        self._theirs = Bucket(_LINES_PER_SECOND, clock(), _AT_ONCE)
        self._signs = Bucket(_SIGNS_PER_SECOND, clock(), _SIGNS_AT_ONCE)
        self._number = 0
        messenger.on_chat = self.take_in

    def say(self, text: str) -> str:
        """Send a line to the other players, and show it. Returns what is wrong with it, empty where it was sent: it
        reaches the others once the relay can be reached."""
        text = unicodedata.normalize("NFC", text.strip()) or " "  # a line with nothing in it says that we are there
        if self._ours.wait(1, self._clock()):
            return "That is too much at once. Say it again in a few seconds."
        try:
            line = self._next_line(text)
        except InvalidValue:
            return f"A line has 1 to {MAX_CHAT} characters."
        self._ours.take(1, self._clock())
        self._send(line)
        self._acted = self._clock()
        self._show(f"You say: {harmless(text)}")
        return ""

    def show_presence(self) -> None:
        """Tell the others that we are there, if a screen is open and that was not said of late."""
        now = self._clock()
        is_left_alone = now - self._acted > _LEFT_ALONE_SECONDS
        if is_left_alone or now - self._last_sign < _SIGN_SECONDS or not self.is_seen():
            return
        if self._messenger.is_connected and self._messenger.is_idle:
            self._last_sign = now
            self._send(self._next_line(""))

    def note_state(self, seat: int) -> None:
        """A player has signed a state that is new."""
        self._acted = self._clock()
        self.presence.note(seat)

    def _next_line(self, text: str) -> ChatLine:
        """The next line. Its number is the time, so that it rises over a restart, too. Raises `InvalidValue`."""
        self._number = max(self._number + 1, int(self._wall() * _MICROSECONDS))
        return ChatLine(self._table.id, self._number, text)

    def _send(self, line: ChatLine) -> None:
        self._messenger.send(SignedChat.sign(line, self._key).encode())

    def _show(self, line: str) -> None:
        self.lines.append(line)
        self._output(line)

    def take_in(self, entry: bytes) -> None:
        """Take in an entry of the log that is chat, and show it if it is good. Raises nothing."""
        try:
            said = SignedChat.decode(entry)
            bucket = self._theirs if said.line.text else self._signs
            if bucket.wait(1, self._clock()):
                return
            bucket.take(1, self._clock())
            sender = said.sender
        except ForcemoveError:
            return
        others = set(self._table.participants) - {self._key.address}
        if said.line.table != self._table.id or sender not in others or said.line.number <= self._shown[sender]:
            return
        self._shown[sender] = said.line.number
        seat = self._table.participants.index(sender)
        self.presence.note_signed(seat, said.line.number / _MICROSECONDS)
        if said.line.text:
            self._show(f"{self._names[seat]} says: {harmless(said.line.text)}")
