"""Asks the endpoints of a chain all at once, so that one that hangs is not waited for where another answers."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from forcemove.chain.chain import Chain
from forcemove.chain.rpc import making_sense

__all__ = ["answering", "answers"]

_LOOK_SECONDS = 10.0
"""That an endpoint has for all that it is asked at once."""
_GRACE = 2.0
"""Seconds that the others have once one has answered."""
_T = TypeVar("_T")


def answers(chains: Sequence[Chain], ask: Callable[[Chain], _T]) -> list[_T]:
    """Of the endpoints that answer, at least one; who has not when another has is not waited for much longer. Raises
    what the first says where none does."""
    said: queue.SimpleQueue[tuple[int, _T | Exception]] = queue.SimpleQueue()

    def answer(index: int, chain: Chain) -> None:
        try:
            with chain.rpc.deadline(_LOOK_SECONDS), making_sense(chain.endpoint):
                said.put((index, ask(chain)))
        except Exception as error:
            said.put((index, error))

    for each in enumerate(chains):
        threading.Thread(target=answer, args=each, daemon=True).start()
    return _gathered(said, len(chains))


def answering(chains: Sequence[Chain]) -> list[Chain]:
    """Those that answer now. Raises as `answers`."""

    def ask(chain: Chain) -> Chain:
        chain.block_number()
        return chain

    there = answers(chains, ask)
    return [chain for chain in chains if chain in there]


def _gathered(said: queue.SimpleQueue[tuple[int, _T | Exception]], count: int) -> list[_T]:
    found: list[_T] = []
    failures: dict[int, Exception] = {}
    until = math.inf
    while len(found) + len(failures) < count:
        try:
            index, answer = said.get(timeout=None if until == math.inf else max(until - time.monotonic(), 0))
        except queue.Empty:
            break
        if isinstance(answer, Exception):
            failures[index] = answer
        else:
            found.append(answer)
            until = min(until, time.monotonic() + _GRACE)
    if not found:
        raise failures[min(failures)]
    return found
