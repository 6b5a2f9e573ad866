"""Looks at what is outside: what one raises, and that it hangs, is told and costs no other look. Row 55 of the list of
attacks, and hole 25."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from forcemove.channel.chain.errors import Unreachable
from forcemove.channel.node.errors import LookFailed, LookHangs
from forcemove.channel.node.looking import Looks, keep_looking, look_now


class Outside:
    """Something to look at. `raises`: what the next looks raise; `gate`: what a look waits for."""

    endpoints = 1
    is_idle = False

    def __init__(self, *raises: BaseException, longest_look: float | None = None) -> None:
        self.raises, self.longest_look = list(raises), longest_look
        self.gate = threading.Event()
        self.gate.set()
        self.taken = self.abandoned = self.begun = 0

    def prepare(self) -> Callable[[], None]:
        return self._look

    def _look(self) -> None:
        self.begun += 1
        self.gate.wait()
        if self.raises:
            raise self.raises.pop(0)

    def take(self) -> None:
        self.taken += 1

    def abandon(self) -> None:
        self.abandoned += 1
        self.gate = threading.Event()
        self.gate.set()


ODD = [OverflowError("2**256-1 bytes"), RecursionError("brackets"), MemoryError(), KeyError("hash"), ValueError("x")]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_threat_55_whatever_a_look_raises_is_told_as_what_passes(odd: Exception) -> None:
    """It used to end `Node.run`, and every channel with it."""
    outside, told = Outside(odd, Unreachable("x", "down")), list[Exception]()

    async def run() -> None:
        looking = asyncio.create_task(keep_looking(outside, told.append, lambda: None, every=0.001, idle=0.001))
        while not outside.taken:
            assert not looking.done()
            await asyncio.sleep(0.001)
        looking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert [type(each) for each in told] == [LookFailed, Unreachable]


def test_threat_55_one_look_that_is_waited_for_raises_nothing() -> None:
    told = list[Exception]()
    look_now(Outside(OverflowError()), told.append)
    assert [type(each) for each in told] == [LookFailed]


def test_threat_55_a_look_that_hangs_is_abandoned_and_another_one_begun() -> None:
    outside, told = Outside(longest_look=0.05), list[Exception]()
    hanging = outside.gate = threading.Event()

    async def run() -> None:
        looking = asyncio.create_task(keep_looking(outside, told.append, lambda: None, every=0.001, idle=0.001))
        while not outside.taken:
            await asyncio.sleep(0.001)
        looking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert outside.abandoned == 1
    assert [type(each) for each in told] == [LookHangs]
    assert not hanging.is_set()
    hanging.set()


def test_threat_46_who_looks_in_turn_is_held_up_once_by_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.channel.node.looking._A_MOMENT", 0.01)
    hangs, well, told = Outside(longest_look=60.0), Outside(), list[Exception]()
    gate = hangs.gate = threading.Event()
    looks = Looks(told.append)
    for turn in range(1, 4):
        looks.look([hangs, well])
        assert (hangs.begun, hangs.taken, well.taken) == (1, 0, turn)
    gate.set()
    while not hangs.taken:
        looks.look([hangs, well])
    assert told == []


def test_threat_55_one_that_hangs_too_long_is_abandoned_by_who_looks_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.channel.node.looking._A_MOMENT", 0.01)
    hangs, told = Outside(longest_look=0.001), list[Exception]()
    gate = hangs.gate = threading.Event()
    looks = Looks(told.append)
    looks.look([hangs, Outside(OverflowError())])
    assert {type(each) for each in told} == {LookHangs, LookFailed}
    assert hangs.abandoned == 1
    gate.set()
