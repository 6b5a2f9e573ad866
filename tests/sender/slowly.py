"""Endpoints of one node that take their time for each request, in virtual time: each has one worker, which asks the
most urgent first, as `forcemove.chain.worker` does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from forcemove import Chain, PassingError, local_keys
from forcemove.chain.asking import Exchanges, Steps
from forcemove.chain.task_queue import Priority, Task, TaskQueue
from forcemove.sender.sender import Sender
from forcemove.sender.transactions import Confirmed, TxOutcome, TxRequest
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.tx_store import MemoryTxStore

__all__ = ["BLOCK", "KEY", "PAYEE", "SlowWorker", "SlowWorld"]

KEY, PAYEE = local_keys()[0], local_keys()[2]
ETHER, BLOCK, PATIENCE = 10**18, 2, 60


class SlowWorker:
    """Asks one endpoint, a question in each `seconds`."""

    is_hanging = False

    def __init__(self, chain: Chain, seconds: float) -> None:
        self.chain, self.seconds, self.free_at = chain, seconds, 0.0
        self.endpoint = chain.endpoint
        self._tasks = TaskQueue()
        self._asked: Task | None = None

    def begin(
        self, steps: Steps[Any], priority: Priority = Priority.SHOW, is_over: Callable[[], bool] = lambda: False
    ) -> Future[Any]:
        return self._tasks.begin(Exchanges(steps, is_over), priority)

    def step(self, now: float) -> bool:
        """Do what is to be done by now. Returns whether there was anything."""
        task, self._asked = self._asked, None
        if task is None and self._tasks:
            task = self._tasks.take()
            if not task.asked.is_answered:
                self._asked, self.free_at = task, max(self.free_at, now) + self.seconds
                return True
        elif task is not None and self.free_at > now:
            self._asked, task = task, None
        if task is None:
            return False
        if task.go_on(self.chain.rpc):
            self._tasks.put_back(task)
        return True


class SlowWorld:
    """A sender, and its endpoints, each of which takes this many seconds for a request. A block is mined every two
    seconds, and the sender looks each second."""

    def __init__(self, *seconds: float, confirmations: int = 1) -> None:
        self.now, self.node = 0.0, MemoryChain().node
        self.node.is_mining = False
        self.began = self.node.next_time
        self.endpoints = [Endpoint(self.node, str(number)) for number in range(len(seconds))]
        self.chains = [MemoryChain(each) for each in self.endpoints]
        self.workers = {each: SlowWorker(each, takes) for each, takes in zip(self.chains, seconds, strict=True)}
        for each, worker in self.workers.items():
            each.worker = worker  # type: ignore[assignment]
        self.kept, self.confirmations = MemoryTxStore(), confirmations
        self.outcomes: list[TxOutcome] = []
        self.errors: list[PassingError] = []
        self.restart()

    def restart(self) -> None:
        first, *others = self.chains
        self.sender = Sender(
            first,
            KEY,
            self.kept,
            bump_after=PATIENCE,
            confirmations=self.confirmations,
            clock=lambda: self.now,
            others=others,
        )

    def want(self, number: int, seconds: int | None = 240, value: int = 0) -> None:
        name = b"%d" % number
        deadline = None if seconds is None else int(self.began + self.now) + seconds
        self.sender.submit(TxRequest(name, PAYEE.address, name, value, ETHER // 100, deadline, gas=50_000))

    def look(self) -> None:
        try:
            self.outcomes += self.sender.look()
        except PassingError as error:
            self.errors.append(error)
        self.errors += self.sender.take_errors()

    def pass_(self, seconds: float = 1.0) -> None:
        """All that the endpoints answer in this time."""
        end = self.now + seconds
        while self.now < end:
            self.now = min([end, *(each.free_at for each in self.workers.values() if self.now < each.free_at)])
            while self.node.next_time + BLOCK <= self.began + self.now:
                self.node.next_time += BLOCK - 1
                self.node.mine()
            while sum(each.step(self.now) for each in self.workers.values()):
                pass

    def run(self, seconds: int, until: Callable[[], bool] = lambda: False) -> None:
        """Look each second, until this holds, for this many seconds at most."""
        for _ in range(seconds):
            self.look()
            if until():
                return
            self.pass_()

    def mined_at(self) -> list[float]:
        """When each of the transactions to the payee was mined, in seconds."""
        return [
            block.time - self.began
            for block in self.node.blocks
            for each in block.transactions
            if each.to == PAYEE.address
        ]

    @property
    def confirmed(self) -> set[bytes]:
        found = (each.request_id for each in self.outcomes if isinstance(each, Confirmed))
        return {each for each in found if isinstance(each, bytes)}
