"""What a follower finds wrong with an endpoint."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.channel.errors import ChainError, PassingError

__all__ = ["AnotherChain", "BehindAnother", "BehindItself", "EndpointsDisagree", "LogsLeftOut"]


@dataclass(eq=False)
class LogsLeftOut(PassingError):
    """The endpoint's logs of a channel do not lead to what the adjudicator itself says of it at that block: it has left
    some out, or it answers from several states. The channel's news are not believed; they are read again."""

    endpoint: str
    channel_id: bytes
    block_number: int


@dataclass(eq=False)
class BehindItself(PassingError):
    """The endpoint's newest block is older than one that it has shown before, on the same chain: it lags."""

    endpoint: str
    block_number: int
    seen_before: int


@dataclass(eq=False)
class BehindAnother(PassingError):
    """The endpoint's newest block is `block_number`, and that of another one of the same chain is `seen_there`: it
    lags, or it hides what has happened since. The other one is read from now on."""

    endpoint: str
    block_number: int
    other: str
    seen_there: int


@dataclass(eq=False)
class EndpointsDisagree(PassingError):
    """Two endpoints of one chain say different things of a channel, up to block `block_number`: one of them leaves
    something out, makes something up, or is on another fork. A challenge is answered whichever shows it; nothing is
    signed or paid in on what only one shows."""

    endpoint: str
    other: str
    channel_id: bytes
    block_number: int


@dataclass(eq=False)
class AnotherChain(ChainError):
    """The chain has the channel's chain id, and is another one: a test chain that began anew, or was put back to an
    earlier state. Block `block_number`, at which the channel began, had the hash `expected` (32 bytes) and has `found`
    here, None where the chain ends before it; and the adjudicator knows nothing of the channel."""

    endpoint: str
    channel_id: bytes
    block_number: int
    expected: bytes
    found: bytes | None
