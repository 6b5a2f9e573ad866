"""All endpoints of one chain, asked at once: one that hangs is not waited for where another answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from forcemove.chain.asking import Steps
from forcemove.chain.chain import Chain
from forcemove.chain.errors import Unreachable
from forcemove.chain.task_queue import Priority
from forcemove.chain.threads import wait

__all__ = ["answering", "answers", "poll"]

T = TypeVar("T")
_LONGEST, _GRACE = 15.0, 2.0
"""Seconds for which the first answer is waited for; and that the other endpoints have once one has answered."""


def answers(chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]]) -> list[T]:
    """The answers of the endpoints that answer, at least one, in their order. Once one has answered, the others are not
    waited for much longer. Raises the first endpoint's error where none answers."""
    return list(_answered(chains, ask).values())


def answering(chains: Sequence[Chain]) -> list[Chain]:
    """The endpoints that answer now. Raises as `answers`."""
    return list(_answered(chains, lambda chain: chain.block_number.steps()))


def poll(
    chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]], is_enough: Callable[[T], bool] | None = None
) -> tuple[dict[Chain, T], dict[Chain, BaseException]]:
    """What each endpoint has answered, and how each has failed, as of `answers`; one that is late is in neither.
    `is_enough`: of an answer, whether no other is waited for any longer; all are while there is none."""
    begun = {chain: chain.worker.begin(ask(chain), Priority.SHOW) for chain in chains}
    waiting, until = set(begun.values()), time.monotonic() + _LONGEST
    while waiting and (left := until - time.monotonic()) > 0:
        ended, waiting = wait(waiting, left)
        found = [each.result() for each in ended if each.exception() is None]
        if found and (is_enough is None or any(map(is_enough, found))):
            until = min(until, time.monotonic() + (_GRACE if is_enough is None else 0.0))
    for each in waiting:
        each.cancel()
    errors = {chain: each.exception() for chain, each in begun.items() if each not in waiting}
    answered = {chain: begun[chain].result() for chain, error in errors.items() if error is None}
    return answered, {chain: error for chain, error in errors.items() if error is not None}


def _answered(chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]]) -> dict[Chain, T]:
    found, errors = poll(chains, ask)
    if not found:
        raise next(iter(errors.values()), Unreachable(chains[0].endpoint, "it did not answer in time"))
    return found
