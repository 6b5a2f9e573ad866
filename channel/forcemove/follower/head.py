"""The chain's head, which each look reads before anything else.

A time that was read before is never later than the true one, since the chain's clock only goes forward. A decision by
it may come late, never too early: no answer is given up that could still be given.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number

__all__ = ["Head", "read_head"]


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
