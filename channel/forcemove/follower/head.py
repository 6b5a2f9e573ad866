"""The chain's head, read once a second at most, and not for each question.

A time that was read before is never later than the true one, since the chain's clock only goes forward. A decision by
it may come late, never too early: no answer is given up that could still be given. It comes late by a second at most,
and the time that the endpoint took to answer. A transaction of ours that was mined in between moves the head, too, but
by no more than the time that went by: the next look reads the head before it reads the logs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number

__all__ = ["Head", "HeadReader", "read_head"]

_FRESH = 1.0


@dataclass(frozen=True, slots=True)
class Head:
    """The newest block's number, its hash and that of the block before it (32 bytes each), and the block time (seconds)
    of a transaction that is sent now."""

    number: int
    hash: bytes
    parent: bytes
    next_time: int


def read_head(chain: Chain) -> Head:
    """The head of a chain, in two calls. The time is that of the pending block, where the node has one: on a chain
    without traffic the newest block may be old, and deadlines pass all the same. Raises `ChainError`."""
    latest = chain.block("latest")
    time = as_number(latest["timestamp"])
    with suppress(EndpointFailed):  # of a node without pending blocks
        time = max(time, as_number(chain.block("pending")["timestamp"]))
    return Head(as_number(latest["number"]), as_bytes(latest["hash"]), as_bytes(latest["parentHash"]), time)


class HeadReader:
    """Reads the head, if the last one that was read is not fresh any more."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds."""
        self._clock = clock
        self._head: Head | None = None
        self._read_at: float | None = None

    def expire(self) -> None:
        """From now on no head that was read before is fresh."""
        self._read_at = None

    def read(self, chain: Chain) -> Head:
        """The head: as it was read less than a second ago and after the last `expire`, else read now from this
        endpoint. Raises `ChainError`."""
        if self._head is None or self._read_at is None or not 0 <= self._clock() - self._read_at < _FRESH:
            self._head, self._read_at = read_head(chain), self._clock()
        return self._head

    @property
    def last_time(self) -> int:
        """The block time (seconds) that was read last, without a request; 0 where none was."""
        return self._head.next_time if self._head else 0
