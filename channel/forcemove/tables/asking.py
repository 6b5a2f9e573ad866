"""Asks all endpoints of a chain at once, so that one that hangs is not waited for where another answers."""

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
"""Seconds that an endpoint has for all questions that are asked at once."""
_GRACE = 2.0
"""Seconds that the other endpoints have once one has answered."""
_T = TypeVar("_T")


def answers(chains: Sequence[Chain], ask: Callable[[Chain], _T]) -> list[_T]:
    """The answers of the endpoints that answer, at least one. Once one has answered, the others are not waited for much
    longer. Raises the first endpoint's error where none answers."""
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
    """The endpoints that answer now. Raises as `answers`."""

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
