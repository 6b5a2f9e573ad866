"""Whatever a look does, hanging forever or failing in a way that nobody thought of, it holds up and ends nothing. Rows
46, 54 and 55 of the list of attacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from forcemove.arena.virtual_time import VirtualTimeLoop
from forcemove.chain.worker import Look
from forcemove.workers.errors import LookFailed
from forcemove.workers.polling import ParallelPolls, keep_polling, poll_once


class Worker:
    """Whose looks wait for what is given, and then raise what is given; it counts them."""

    endpoints, is_idle, is_quiet = 1, False, False

    def __init__(self, begun: Sequence[Future[Any]] = (), error: Exception | None = None) -> None:
        self._begun, self._error = begun, error
        self.begins = self.ends = self.resumed = self.closed = 0

    def look(self) -> Look[None]:
        self.begins += 1
        try:
            while not all(each.done() for each in self._begun):
                yield self._begun
                self.resumed += 1
        except GeneratorExit:
            self.closed += 1
            raise
        if self._error is not None:
            raise self._error
        self.ends += 1


class Hanging(Future[None]):
    """What never ends."""


@pytest.fixture(autouse=True)
def short_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.workers.polling._WAIT_SECONDS", 0.05)


def failing() -> Worker:
    return Worker(error=RecursionError("an answer that nobody thought of"))


def test_threat_46_a_look_that_hangs_holds_up_no_other() -> None:
    hanging, other = Worker([Hanging()]), Worker()
    looks = ParallelPolls(lambda _: None)
    for _ in range(3):
        looks.look([hanging, other])
    assert (hanging.begins, hanging.ends, other.ends) == (1, 0, 3)


def test_threat_46_a_look_that_waits_is_asked_in_each_turn_whether_it_still_does() -> None:
    """So it can find that what it waits for hangs."""
    ends: Future[None] = Future()
    slow, looks = Worker([ends]), ParallelPolls(lambda _: None)
    looks.look([slow, Worker()])
    looks.look([slow, Worker()])
    assert slow.resumed == 1
    ends.set_result(None)
    looks.look([slow, Worker()])
    assert (slow.begins, slow.ends) == (1, 1)


@pytest.mark.parametrize("others", [0, 1])
def test_threat_55_whatever_a_look_raises_is_told_and_tried_again(others: int) -> None:
    worker, troubles = failing(), list[Exception]()
    looks = ParallelPolls(troubles.append)
    for _ in range(2):
        looks.look([worker, *(Worker() for _ in range(others))])
    assert [type(each) for each in troubles] == [LookFailed] * 2
    assert worker.begins == 2


def test_a_look_that_is_waited_for_may_find_that_it_hangs() -> None:
    class Patient(Worker):
        def look(self) -> Look[None]:
            for begun in super().look():
                if self.resumed:
                    raise LookFailed("it hangs")
                yield begun

    worker, troubles = Patient([Hanging()]), list[Exception]()
    poll_once(worker, troubles.append)
    assert [type(each) for each in troubles] == [LookFailed]


def kept(worker: Worker, is_enough: Callable[[], bool]) -> list[Exception]:
    """What was told until there was enough."""
    troubles = list[Exception]()

    async def run() -> None:
        looking = asyncio.create_task(keep_polling(worker, troubles.append, lambda: None, asyncio.Event(), every=0.01))
        while not is_enough() and not looking.done():
            await asyncio.sleep(0.01)
        if looking.done():
            looking.result()
        looking.cancel()
        await asyncio.wait([looking])

    asyncio.run(asyncio.wait_for(run(), 30))
    return troubles


def test_threat_46_a_running_node_asks_again_whether_a_look_still_waits_and_closes_it_at_its_end() -> None:
    hanging = Worker([Hanging()])
    kept(hanging, lambda: hanging.resumed > 1)
    assert (hanging.begins, hanging.closed) == (1, 1)


def test_a_running_node_goes_on_as_soon_as_what_a_look_waits_for_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.workers.polling._WAIT_SECONDS", 3600.0)
    ends: Future[None] = Future()
    waiting = Worker([ends])

    def has_gone_on() -> bool:
        if waiting.begins and not ends.done():
            ends.set_result(None)
        return waiting.ends > 0

    kept(waiting, has_gone_on)
    assert waiting.ends


def test_a_look_begins_a_second_after_the_end_of_the_last_one() -> None:
    """A slow endpoint is asked less often. Time is virtual."""
    begins, errors = list[float](), list[Exception]()

    class Slow(Worker):
        def look(self) -> Look[None]:
            loop, ends = asyncio.get_running_loop(), Future[None]()
            begins.append(loop.time())
            loop.call_later(3.0, ends.set_result, None)
            while not ends.done():
                yield (ends,)

    async def run() -> None:
        looking = asyncio.create_task(keep_polling(Slow(), errors.append, lambda: None, asyncio.Event(), every=1.0))
        await asyncio.sleep(11.5)
        looking.cancel()

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())
    assert begins == pytest.approx([0, 4, 8], abs=0.1)
    assert errors == []


def test_an_idle_worker_looks_as_soon_as_it_is_woken() -> None:
    """Else it is asked each second whether it is idle still. Time is virtual."""
    asked, troubles, is_wanted = list[float](), list[Exception](), False

    class Idle(Worker):
        @property
        def is_idle(self) -> bool:  # type: ignore[override]
            asked.append(asyncio.get_running_loop().time())
            return not is_wanted

    async def run() -> None:
        nonlocal is_wanted
        awake = asyncio.Event()
        looking = asyncio.create_task(keep_polling(worker, troubles.append, lambda: None, awake, every=1.0))
        await asyncio.sleep(2.5)
        assert worker.begins == 0
        is_wanted = True
        awake.set()
        await asyncio.sleep(0.1)
        looking.cancel()

    worker = Idle()
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())
    assert asked[:3] == pytest.approx([0, 1, 2], abs=0.01)
    assert (worker.begins, troubles) == (1, [])


@pytest.mark.parametrize(("is_quiet", "begins"), [(False, 4), (True, 2)])
def test_a_quiet_worker_looks_half_as_often(is_quiet: bool, begins: int) -> None:
    worker, troubles = Worker(), list[Exception]()
    worker.is_quiet = is_quiet

    async def run() -> None:
        looking = asyncio.create_task(keep_polling(worker, troubles.append, lambda: None, asyncio.Event(), every=1.0))
        await asyncio.sleep(3.5)
        looking.cancel()

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())
    assert (worker.begins, troubles) == (begins, [])


def test_threat_55_a_running_node_goes_on_whatever_a_look_raises() -> None:
    worker = failing()
    troubles = kept(worker, lambda: worker.begins > 2)
    assert {type(each) for each in troubles} == {LookFailed}
