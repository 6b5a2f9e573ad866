"""The ports of a client to its counterparties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast, runtime_checkable


class Messenger(Protocol):
    """Carries messages between the participants of one channel. It may lose, repeat, reorder and invent messages, and
    may raise any error: that costs a client nothing but time, and a message that was not sent is sent again."""

    def send(self, message: bytes) -> None:
        """Send a message to every counterparty."""
        ...

    def receive(self) -> Sequence[bytes]:
        """The messages that have arrived since the last call, oldest first. Never waits."""
        ...


@runtime_checkable
class WakingMessenger(Messenger, Protocol):
    """A messenger that says when a message has arrived, so that a node with many channels need not ask it at each step,
    as it asks any other `Messenger`."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever a message has arrived, in the thread in which the node is driven. There is one listener:
        the last one that was given."""
        ...


class ConnectedMessenger(Messenger, Protocol):
    """A messenger that knows whether it can carry anything now: losses are entered in the channel's history."""

    @property
    def url(self) -> str:
        """The address of what carries the messages, as it may be shown."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        ...


def as_connected(messenger: Messenger) -> ConnectedMessenger | None:
    """The messenger where it is a `ConnectedMessenger`. (Python 3.11 asks a protocol so slowly that it counts.)"""
    return cast("ConnectedMessenger", messenger) if hasattr(messenger, "is_connected") else None
