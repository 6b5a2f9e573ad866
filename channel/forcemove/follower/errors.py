"""The errors of endpoints that a follower finds."""

from __future__ import annotations

from forcemove.errors import ChainError, ForcemoveError, PassingError


class LogsLeftOut(PassingError):
    """The endpoint's logs of a channel do not lead to what the adjudicator itself says of it at that block: it has left
    some out, or it answers from several states. The channel's logs are not believed; they are read again."""

    endpoint: str
    channel_id: bytes
    block_number: int


class StillReading(PassingError):
    """The endpoint has shown of a channel what the adjudicator says of it at block `block_number`, and not yet all that
    is logged up to there. A clock that it shows counts; nothing else does, and nothing is wrong."""

    endpoint: str
    channel_id: bytes
    block_number: int


class BehindItself(PassingError):
    """The endpoint's newest block is older than one that it has shown before, on the same chain: it lags."""

    endpoint: str
    block_number: int
    seen_before: int


class HeadTooFar(PassingError):
    """The endpoint's newest block is so far after `read_up_to`, the last one that was read, that no chain can have made
    this many."""

    endpoint: str
    block_number: int
    read_up_to: int


class EndpointLeftOut(PassingError):
    """The endpoint has said nothing that makes sense for `seconds`. What the other endpoints agree on counts without it
    until it is back."""

    endpoint: str
    seconds: float


class EndpointStuck(PassingError):
    """The endpoint answers, and has shown no new block after `block_number` for two minutes, while another one is at
    `seen_elsewhere`: one of the two is wrong. New blocks count when both show them."""

    endpoint: str
    block_number: int
    seen_elsewhere: int


class EndpointsDisagree(PassingError):
    """Two endpoints of one chain say different things of a channel, up to block `block_number`: one of them leaves
    something out, makes something up, or is on another fork. A challenge is answered whichever shows it; nothing is
    signed or paid in while they disagree."""

    endpoint: str
    other: str
    channel_id: bytes
    block_number: int


class EndpointContradicted(PassingError):
    """This endpoint alone says `reason` of a channel: that it is of another chain, say, or that its contracts are not
    genuine. The other endpoints do not, so one of them is wrong; nothing new is signed or paid in where that
    matters."""

    endpoint: str
    channel_id: bytes
    reason: ForcemoveError


class TimeInDoubt(PassingError):
    """The endpoint's newest block has the time `block_time`, and our own clock says `own_time` (seconds since 1970):
    one of the two is wrong."""

    endpoint: str
    block_time: int
    own_time: int


class AnotherChain(ChainError):
    """The chain has the channel's chain id, and is another one: a test chain that was started again, or put back to an
    earlier state. Block `block_number`, at which the channel began, had the hash `expected` (32 bytes) and has `found`
    here, None where the chain ends before it; and the adjudicator knows nothing of the channel."""

    endpoint: str
    channel_id: bytes
    block_number: int
    expected: bytes
    found: bytes | None
