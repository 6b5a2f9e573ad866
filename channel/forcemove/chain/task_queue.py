"""What one endpoint is asked, the most urgent first. Without I/O, threads and a clock.

Those of the same priority take turns, and a question that several ask at the same time is asked once.
"""

from __future__ import annotations

import heapq
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar

from forcemove.chain.asking import Exchanges
from forcemove.chain.rpc import Rpc

T = TypeVar("T")
_AHEAD = 4
"""How many turns each priority is ahead of the next: what is less urgent is late, and never left out."""


class Priority(IntEnum):
    """What is asked first."""

    DEFEND = 0
    """Questions that may show a challenge, and transactions to send."""
    SETTLE = 1
    """What became of what was sent."""
    SHOW = 2
    """What a person waits for."""
    CATCH_UP = 3
    """All that can wait."""


@dataclass(order=True)
class Task:
    """A function that asks. `turn`: the task with the lowest one is next. `future`: will have its result or error."""

    turn: int
    priority: Priority = field(compare=False)
    asked: Exchanges[Any] = field(compare=False)
    future: Future[Any] = field(compare=False, default_factory=Future)

    def go_on(self, rpc: Rpc) -> bool:
        """Make one exchange with the endpoint, or, where all is answered, find out what is asked next. Returns whether
        there is more to do."""
        try:
            if self.future.cancelled():
                self.asked.close()
                return False
            if not self.asked.is_answered:
                self.asked.ask(rpc)
            else:
                self.asked.advance(rpc.endpoint)
        except StopIteration as end:
            self._end(end.value)
        except BaseException as error:  # its owner is told
            self._end(None, error)
        else:
            return True
        return False

    def _end(self, result: object, error: BaseException | None = None) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class TaskQueue:
    """The tasks of one endpoint. Its length counts those that are not taken out."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._turns = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, asked: Exchanges[T], priority: Priority) -> Future[T]:
        """Add a task."""
        task = Task(0, priority, asked)
        self._put(task)
        return task.future

    def take(self) -> Task:
        """Take the next task out."""
        return heapq.heappop(self._tasks)

    def put_back(self, task: Task) -> None:
        """A task has more to do. One of whose questions some are answered keeps its turn."""
        if task.asked.is_partly_answered:
            heapq.heappush(self._tasks, task)
            return
        if task.asked.is_answered:
            for other in self._tasks:
                other.asked.answer_as(task.asked)
        self._put(task)

    def drop_cancelled(self) -> None:
        """Forget the tasks whose results nobody waits for."""
        self._tasks = [each for each in self._tasks if not each.future.cancelled()]
        heapq.heapify(self._tasks)

    def _put(self, task: Task) -> None:
        self._turns += 1
        task.turn = self._turns + _AHEAD * task.priority
        heapq.heappush(self._tasks, task)
