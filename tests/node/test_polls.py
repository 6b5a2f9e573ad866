"""Whatever a look does, hanging for ever or failing in a way that nobody thought of, it holds up and ends nothing. Rows
46, 54 and 55 of the list of attacks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from forcemove.node.errors import LookFailed, LookHangs
from forcemove.node.polling import ParallelPolls, keep_polling


class Worker:
    """Whose look is given; it counts what it is called for."""

    endpoints, is_idle = 1, False

    def __init__(self, look: Callable[[], None] = lambda: None, longest_look: float | None = None) -> None:
        self.look, self.longest_look = look, longest_look
        self.prepared = self.taken = self.abandoned = 0

    def prepare(self) -> Callable[[], None]:
        self.prepared += 1
        return self.look

    def take(self) -> None:
        self.taken += 1

    def abandon(self) -> None:
        self.abandoned += 1
        self.look = lambda: None


@pytest.fixture(autouse=True)
def short_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.node.polling._WAIT_SECONDS", 0.05)


@pytest.fixture
def hang() -> Iterator[Callable[[], None]]:
    """A look that hangs until the test has ended, or has failed."""
    ended = threading.Event()

    def look() -> None:
        ended.wait(60)

    yield look
    ended.set()


def fail() -> None:
    raise RecursionError("an answer that nobody thought of")


def require_ends_with_the_process() -> None:
    looks = [each for each in threading.enumerate() if each.name == "look"]
    assert looks
    assert all(each.daemon for each in looks)


def test_threat_46_a_look_that_hangs_holds_up_no_other_and_no_process(hang: Callable[[], None]) -> None:
    hanging, other = Worker(hang), Worker()
    looks = ParallelPolls(lambda _: None)
    for _ in range(3):
        looks.look([hanging, other])
    require_ends_with_the_process()
    assert (hanging.prepared, hanging.taken, other.taken) == (1, 0, 3)


def test_threat_46_a_look_that_hangs_for_too_long_is_abandoned(hang: Callable[[], None]) -> None:
    hanging, troubles = Worker(hang, 0.01), list[Exception]()
    looks = ParallelPolls(troubles.append)
    looks.look([hanging, Worker()])
    assert ([type(each) for each in troubles], hanging.abandoned) == ([LookHangs], 1)
    looks.look([hanging, Worker()])
    assert hanging.taken == 1


@pytest.mark.parametrize("others", [0, 1])
def test_threat_55_whatever_a_look_raises_is_told_and_tried_again(others: int) -> None:
    failing, troubles = Worker(fail, 0.5), list[Exception]()
    looks = ParallelPolls(troubles.append)
    for _ in range(2):
        looks.look([failing, *(Worker() for _ in range(others))])
    assert [type(each) for each in troubles] == [LookFailed] * 2
    assert (failing.prepared, failing.taken) == (2, 2), "what was found before it failed is taken"


def kept(worker: Worker, is_enough: Callable[[], bool]) -> list[Exception]:
    """What was told until there was enough."""
    troubles = list[Exception]()

    async def run() -> None:
        looking = asyncio.create_task(keep_polling(worker, troubles.append, lambda: None, every=0.01, idle=0.01))
        while not is_enough() and not looking.done():
            await asyncio.sleep(0.01)
        if looking.done():
            looking.result()
        require_ends_with_the_process_if_any()
        looking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    return troubles


def require_ends_with_the_process_if_any() -> None:
    assert all(each.daemon for each in threading.enumerate() if each.name == "look")


def test_threat_46_a_running_node_abandons_a_look_that_hangs(hang: Callable[[], None]) -> None:
    hanging = Worker(hang, 0.05)
    troubles = kept(hanging, lambda: hanging.taken > 1)
    assert ([type(each) for each in troubles], hanging.abandoned) == ([LookHangs], 1)


def test_threat_55_a_running_node_goes_on_whatever_a_look_raises() -> None:
    failing = Worker(fail)
    troubles = kept(failing, lambda: failing.prepared > 2)
    assert {type(each) for each in troubles} == {LookFailed}
    assert failing.taken > 1
