"""The chain's head, which each look reads before anything else.

A time that was read before is never later than the true one, since the chain's clock only goes forward. A decision by
it may come late, never too early: no answer is given up that could still be given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from forcemove.chain.asking import Steps, together
from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import as_bytes, as_number
from forcemove.errors import ForcemoveError

_SLOW = 15
"""Where this many times the seconds of the last reading are longer, the pending block is asked for after these."""


@dataclass(frozen=True, slots=True)
class Head:
    """The newest block's number, its hash and that of the block before it (32 bytes each), and the block time (seconds)
    of a transaction that is sent now."""

    number: int
    hash: bytes
    parent: bytes
    next_time: int


class HeadReader:
    """Reads the head through one endpoint. The time is that of the pending block, where the node has one: on a chain
    without traffic the newest block may be old, and deadlines pass all the same."""

    def __init__(self, chain: Chain, clock: Callable[[], float], pending_every: float = 0.0) -> None:
        """`clock`: seconds that go on steadily. `pending_every`: seconds from a new block, or from the last question
        for the pending one, until the pending one is asked for, and longer where an endpoint is slow; meanwhile the
        time advances with `clock`, which no chain's clock falls behind. 0 asks each time: a chain whose clock is moved
        by hand needs that."""
        self._chain, self._clock, self._pending_every = chain, clock, pending_every
        self._known: Head | None = None
        self._timed_at, self._shown, self._seconds = 0.0, 0, 0.0

    def read(self) -> Steps[Head]:
        """Ask for the head, in one question where that will do. Raises `ChainError`."""
        began = self._clock()
        known, passed, pause = self._known, began - self._timed_at, self._pause
        if known is None or self._pending_every == 0:
            head = yield from _with_time(self._chain)
        elif passed >= pause:
            head = yield from _behind_pending(self._chain, known)
        else:
            head = _head((yield from self._chain.block.steps("latest")))
        self._seconds = self._clock() - began
        self._chain.rpc.on_block(head.hash, head.parent)
        return self._timed(head, passed, pause)

    @property
    def _pause(self) -> float:
        return max(self._pending_every, _SLOW * self._seconds) if self._pending_every else 0.0

    def _timed(self, head: Head, passed: float, pause: float) -> Head:
        """The head with its time. `passed`: seconds since a time was read; `pause`: after which it is
        read again."""
        known, is_same = self._known, self._known is not None and head.hash == self._known.hash
        if known is not None and is_same and passed < pause:
            head = replace(head, next_time=known.next_time + int(passed))
        else:
            self._known, self._timed_at = head, self._clock()
        if is_same and self._pending_every:
            head = replace(head, next_time=max(head.next_time, self._shown))
        self._shown = head.next_time
        return head


def _head(block: Mapping[str, Any]) -> Head:
    hashes = as_bytes(block["hash"]), as_bytes(block["parentHash"])
    return Head(as_number(block["number"]), *hashes, as_number(block["timestamp"]))


def _with_time(chain: Chain) -> Steps[Head]:
    """The newest block, with the time of the pending one."""
    latest, pending = yield from together([chain.block.steps("latest"), chain.block.steps("pending")])
    if isinstance(latest, ForcemoveError):
        raise latest
    head = _head(latest)
    if not isinstance(pending, ForcemoveError):
        return replace(head, next_time=max(head.next_time, as_number(pending["timestamp"])))
    if not isinstance(pending, EndpointFailed):  # that of a node without pending blocks
        raise pending
    return head


def _behind_pending(chain: Chain, known: Head) -> Steps[Head]:
    """The known head with the time of the pending block, where that one follows it; else the newest block."""
    try:
        pending = yield from chain.block.steps("pending")
    except EndpointFailed:
        pending = {}
    shown = [as_bytes(pending[each]) for each in ("parentHash", "hash") if pending.get(each)]
    if known.hash in shown:  # its own hash where the endpoint takes the newest block for the pending one
        return replace(known, next_time=as_number(pending["timestamp"]))
    return _head((yield from chain.block.steps("latest")))
