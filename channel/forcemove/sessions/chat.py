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
from forcemove.text.harmless import harmless
from forcemove.transport.chat import MAX_CHAT, ChatLine, SignedChat
from forcemove.transport.messenger import ChannelMessenger
from forcemove.transport.terms import TableTerms

__all__ = ["TableChat"]

_KEPT = 8
"""Lines that a page shows."""
_LINES_PER_SECOND, _AT_ONCE = 0.5, 5.0
"""How fast a player may send, and how fast the lines of all others together are shown. More are passed over unread."""


class TableChat:
    """The `Chat` of one channel's table. A line is shown once, and only if another player of the table has signed it.
    What is wrong with others' lines is not a fault in the game: such a line is passed over. `lines`: the newest
    lines."""

    def __init__(
        self,
        messenger: ChannelMessenger,
        table: TableTerms,
        key: Key,
        names: Names,
        show: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take over the messenger's chat.

        - `messenger`: carries the channel's messages.
        - `table`: of the channel.
        - `key`: ours, which signs our lines.
        - `names`: the players', by seat.
        - `show`: is called with each line to show.
        - `clock`: seconds that do not go back.
        """
        self._messenger, self._table, self._key = messenger, table, key
        self._names, self._output, self._clock = names, show, clock
        self.lines: deque[str] = deque(maxlen=_KEPT)
        self._shown = dict.fromkeys(table.participants, -1)
        self._ours = Bucket(_LINES_PER_SECOND, clock(), _AT_ONCE)
        self._theirs = Bucket(_LINES_PER_SECOND, clock(), _AT_ONCE)
        self._number = 0
        messenger.on_chat = self.take_in

    def say(self, text: str) -> str:
        """Send a line to the other players, and show it. Returns what is wrong with it, empty where it was sent: it
        reaches the others once the relay can be reached."""
        text = unicodedata.normalize("NFC", text.strip())
        if self._ours.wait(1, self._clock()):
            return "That is too much at once. Say it again in a few seconds."
        # The time, so that it rises over a restart, too.
        self._number = max(self._number + 1, time.time_ns() // 1_000)
        try:
            line = ChatLine(self._table.id, self._number, text)
        except InvalidValue:
            return f"A line has 1 to {MAX_CHAT} characters."
        self._ours.take(1, self._clock())
        self._messenger.send(SignedChat.sign(line, self._key).encode())
        self._show(f"You say: {harmless(text)}")
        return ""

    def _show(self, line: str) -> None:
        self.lines.append(line)
        self._output(line)

    def take_in(self, entry: bytes) -> None:
        """Take in an entry of the log that is chat, and show it if it is good. Raises nothing."""
        if self._theirs.wait(1, self._clock()):
            return
        self._theirs.take(1, self._clock())
        try:
            said = SignedChat.decode(entry)
            sender = said.sender
        except ForcemoveError:
            return
        others = set(self._table.participants) - {self._key.address}
        if said.line.table != self._table.id or sender not in others or said.line.number <= self._shown[sender]:
            return
        self._shown[sender] = said.line.number
        self._show(f"{self._names[self._table.participants.index(sender)]} says: {harmless(said.line.text)}")
