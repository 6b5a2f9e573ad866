"""The chain's head, which each look reads before anything else.

A time that was read before is never later than the true one, since the chain's clock only goes forward. A decision by
it may come late, never too early: no answer is given up that could still be given.
"""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain.asking import Steps, together
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number
from forcemove.errors import ForcemoveError

__all__ = ["Head", "read_head"]


@dataclass(frozen=True, slots=True)
class Head:
    """The newest block's number, its hash and that of the block before it (32 bytes each), and the block time (seconds)
    of a transaction that is sent now."""

    number: int
    hash: bytes
    parent: bytes
    next_time: int


def read_head(chain: Chain) -> Steps[Head]:
    """Ask for the head of a chain, in two questions. The time is that of the pending block, where the node has one: on
    a chain without traffic the newest block may be old, and deadlines pass all the same. Raises `ChainError`."""
    latest, pending = yield from together([chain.block.steps("latest"), chain.block.steps("pending")])
    if isinstance(latest, ForcemoveError):
        raise latest
    time = as_number(latest["timestamp"])
    if not isinstance(pending, ForcemoveError):
        time = max(time, as_number(pending["timestamp"]))
    elif not isinstance(pending, EndpointFailed):  # that of a node without pending blocks
        raise pending
    return Head(as_number(latest["number"]), as_bytes(latest["hash"]), as_bytes(latest["parentHash"]), time)
