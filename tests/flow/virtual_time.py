"""Runs flows in virtual time: a deadline of an hour is over at once, and a test never sleeps. Cancels them anywhere."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from itertools import count
from typing import Any, TypeVar

from forcemove.arena.virtual_time import VirtualTimeLoop

T = TypeVar("T")


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in virtual time; no task may be left running when it ends."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(_alone(main))


class _ShyClock(VirtualTimeLoop):
    """Time passes while somebody looks at the clock, a millisecond each time: also while there is always work."""

    def time(self) -> float:
        self._virtual.now += 0.001
        return super().time()


def run_busy(main: Coroutine[Any, Any, T]) -> T:
    """As `run_virtual`, for stories in which somebody always has something to do."""
    with asyncio.Runner(loop_factory=_ShyClock) as runner:
        return runner.run(_alone(main))


async def _alone(main: Coroutine[Any, Any, T]) -> T:
    result = await main
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks outlive what has started them: {left}"
    return result


def at_every_wait(scenario: Callable[[int], Coroutine[Any, Any, bool]]) -> int:
    """Run the story of a flow that is cancelled where it waits for the first time, for the second time and so on, until
    the flow has an end before that; `scenario` passes on what `cancelled_at` returns. How many waits there were."""
    for number in count(1):
        if not run_virtual(scenario(number)):
            assert number > 1, "it never waits"
            return number - 1
    raise AssertionError


async def cancelled_at(number: int, flow: Coroutine[Any, Any, object]) -> bool:
    """Run a flow, and cancel it where it waits for the `number`th time, counted from 1. Whether it came so far; it must
    have ended with the cancellation then."""
    task = asyncio.create_task(_interrupted(number, flow))
    await asyncio.wait([task])
    return task.cancelled() or task.result()


async def _interrupted(number: int, flow: Coroutine[Any, Any, object]) -> bool:
    waits = await _counted(number, flow)
    assert waits < number, "it has swallowed its cancellation"
    return False


@types.coroutine
def _counted(number: int, flow: Coroutine[Any, Any, object]) -> Generator[Any, Any, int]:
    """Awaits the flow, and cancels the task that it runs in at its `number`th wait; how often it has waited."""
    waits, error = 0, None
    while True:
        try:
            waiting = flow.send(None) if error is None else flow.throw(error)
        except StopIteration:
            return waits
        waits, error = waits + 1, None
        task = asyncio.current_task()
        if waits == number and task is not None:
            task.cancel()
        try:
            yield waiting
        except BaseException as raised:
            error = raised
