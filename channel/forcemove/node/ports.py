"""What a client needs of the outside besides a chain: a way to its counterparties, and a memory that survives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from forcemove.errors import ForcemoveError
from forcemove.protocol.machine.channel import Channel

__all__ = ["EvidenceStore", "Messenger", "Store", "WakingMessenger"]


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


class EvidenceStore(Protocol):
    """Keeps what counterparties do wrong."""

    def keep_evidence(self, channel_id: bytes, error: ForcemoveError) -> None:
        """Keep what a counterparty did wrong, or the newest of it: counterparties can send faults without end."""
        ...


class Store(EvidenceStore, Protocol):
    """Remembers a channel. `save` returns when the channel would survive a crash, not before."""

    def save(self, channel: Channel) -> None:
        """Replace what is remembered of this channel, wholly or not at all."""
        ...

    def load(self, channel_id: bytes) -> Channel | None:
        """What was saved last, or None."""
        ...
