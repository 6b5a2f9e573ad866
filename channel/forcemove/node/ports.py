"""What a client needs of the outside besides a chain and a journal: a way to its counterparties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

__all__ = ["Messenger", "WakingMessenger"]


class Messenger(Protocol):
    """Carries messages between the participants of one channel. It may lose, repeat, reorder and invent them, and it
    may fail: what it raises costs a client nothing but time, and what was not sent is sent again."""

    def send(self, message: bytes) -> None:
        """To every counterparty."""
        ...

    def receive(self) -> Sequence[bytes]:
        """What has arrived since the last call, oldest first; never waits."""
        ...


@runtime_checkable
class WakingMessenger(Messenger, Protocol):
    """A line that says when something has arrived, so that a node with many channels need not ask each of them again
    and again. It may do without: then it is asked at each step."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever something has arrived, in the thread in which the node is driven. One listener at a
        time: the last one counts."""
        ...
