"""A node and a watchtower among liars, as `tests.liars.places` has them, whose endpoints take their time for each
request. Time is virtual; their process may stand still, start again, and find that the system's clock was set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from forcemove import Chain, ForcemoveError
from forcemove.chain.asking import Steps, ask_now
from forcemove.chain.worker import EndpointWorker, Look
from forcemove.workers.polling import PollingWorker
from tests.liars.places import BLOCK, AmongLiars, NodeAmongLiars, TowerAmongLiars
from tests.liars.proxy import Tell
from tests.sender.slowly import SlowWorker

__all__ = ["SlowNode", "SlowTower"]

TURN, LOOK_EVERY = 0.5, 1.0
"""Seconds between two turns of a process's loop, and from the end of a look to the next one."""
AWAY = 90
"""Seconds from a process's death to the next one's start: longer than a lease."""


def _answers(chains: Sequence[Chain], ask: Callable[[Chain], Steps[Any]]) -> list[Any]:
    """What is waited for is answered in no time. The first error where nobody answers."""
    found, errors = [], []
    for chain in chains:
        try:
            found.append(ask_now(chain.rpc, ask(chain)))
        except ForcemoveError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found


class _Slowly(AmongLiars):
    """`takes`: seconds for a request, for each endpoint."""

    takes: Sequence[float]
    _genesis = 0

    def _prepare(self, monkeypatch: pytest.MonkeyPatch, takes: Sequence[float]) -> None:
        self.takes, self._is_slow = takes, False
        self._looks: dict[PollingWorker, Look[None]] = {}
        self._again: dict[PollingWorker, float] = {}
        self._askers: dict[Chain, SlowWorker] = {}
        monkeypatch.setattr(Chain, "worker", property(self._worker_of))
        monkeypatch.setattr("forcemove.sender.sender.answers", _answers)
        monkeypatch.setattr("forcemove.watchtower.channel_guard.ParallelPolls", lambda _: self)

    # ---------------------------------------------------------------------------------------------------- what is asked

    def _worker_of(self, chain: Chain) -> SlowWorker | EndpointWorker:
        if not self._is_slow or not chain.endpoint.isdigit():
            return EndpointWorker(chain)
        asker = self._askers.setdefault(chain, SlowWorker(chain, 0.0))
        asker.seconds = self.takes[int(chain.endpoint)]
        return asker

    def look(self, workers: Iterable[PollingWorker]) -> None:
        """Let each of these workers look, as soon as its last look has ended."""
        for each in workers:
            if each not in self._looks and not each.is_idle and self._again.get(each, 0.0) <= self.now:
                self._looks[each] = each.look()
            if each in self._looks and self._has_ended(self._looks[each]):
                del self._looks[each]
                self._again[each] = self.now + LOOK_EVERY

    def _has_ended(self, look: Look[None]) -> bool:
        try:
            for begun in look:
                if not any(each.done() for each in begun):
                    return False
        except ForcemoveError:
            pass
        return True

    # ------------------------------------------------------------------------------------------------------ what passes

    def set_clock(self, now: float) -> None:
        """Of everybody."""
        self.now = now

    def _begin_slowly(self) -> None:
        self._is_slow, self._genesis = True, self.node.next_time - int(self.now)

    def pass_time(self, seconds: float) -> None:
        """Also while a process stands still."""
        blocks = int(self.now // BLOCK)
        self.set_clock(self.now + seconds)
        self.node.next_time = max(self.node.next_time, self._genesis + int(self.now))
        if int(self.now // BLOCK) > blocks:
            self.node.mine()

    def run(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> None:
        """The process goes on for so long, or until this is so."""
        end = self.now + seconds
        while self.now < end and not until():
            self.pass_time(TURN)
            self._ask()
            self.act()

    def _ask(self) -> None:
        for each in self._askers.values():
            now = self.now
            while each.step(now):
                self.set_clock(now)

    def act(self) -> None:
        """One turn of the process's loop."""
        raise NotImplementedError

    def start_again(self) -> None:
        """The process dies, and another one starts when the leases of the first have ended."""
        self._looks.clear()
        self._again.clear()
        self._askers.clear()
        self.pass_time(AWAY)
        self.die()

    def die(self) -> None:
        """See `start_again`."""
        raise NotImplementedError


class SlowNode(_Slowly, NodeAmongLiars):
    """See `NodeAmongLiars`."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, tells: Sequence[Tell], takes: Sequence[float]
    ) -> None:
        self._prepare(monkeypatch, takes)
        NodeAmongLiars.__init__(self, folder, monkeypatch, tells, challenged=False)
        self._begin_slowly()

    def set_clock(self, now: float) -> None:
        """Of everybody."""
        self.now = self.alice.now = self.bob.now = now

    def act(self) -> None:
        """One turn of the node's loop."""
        self.look(self.alice.node._workers)
        self.alice.node.step()

    def die(self) -> None:
        """Alice's process."""
        self.alice.die(0)

    def tick(self, *, with_bob: bool = False) -> None:
        """A block later."""
        if with_bob:
            self.bob.node.poll()
        self.run(BLOCK)


class SlowTower(_Slowly, TowerAmongLiars):
    """See `TowerAmongLiars`."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, tells: Sequence[Tell], takes: Sequence[float]
    ) -> None:
        self._prepare(monkeypatch, takes)
        TowerAmongLiars.__init__(self, folder, monkeypatch, tells, challenged=False)
        self._begin_slowly()

    def set_clock(self, now: float) -> None:
        """Of everybody."""
        self.now = now
        if self._is_slow:  # there is a tower
            self.keeper.now = now

    def act(self) -> None:
        """One poll."""
        self.keeper.tower.poll()

    def die(self) -> None:
        """The tower's process."""
        self.keeper.die(0)

    def tick(self) -> None:
        """A block later."""
        self.run(BLOCK)
