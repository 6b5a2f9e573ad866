"""The one thread that asks an endpoint all that this process wants of it, the most urgent first.

What asks is a function that yields questions, see `forcemove.chain.asking`. More urgent ones go between the questions
of less urgent ones, and those of the same priority take turns; a question that several ask at the same time is asked
once. So no long reading holds up what defends, and no endpoint waits for another one.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol, TypeVar

from forcemove.chain.asking import RpcRequest, Steps, advance, answers_of
from forcemove.chain.rpc import Rpc

__all__ = ["EndpointWorker", "Priority"]

T = TypeVar("T")
_HANGS_AFTER, _MAX_HANGING = 60.0, 4
"""Seconds of one question after which its thread is left to itself and another one goes on; how many of an endpoint's
threads may hang before it is asked no more until one of them ends."""
_IDLE_SECONDS = 5.0
"""Seconds without a question after which the thread ends; the next question begins another."""


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


class _Asks(Protocol):
    @property
    def rpc(self) -> Rpc: ...


@dataclass(order=True)
class _Task:
    """A function that asks. `turn`: the lower one is next among those of one priority. `questions`: those that it has
    yielded, `answers`: to them; None before it was begun, and while they are not there."""

    priority: Priority
    turn: int
    steps: Steps[Any] = field(compare=False)
    future: Future[Any] = field(compare=False)
    questions: Sequence[RpcRequest] | None = field(default=None, compare=False)
    answers: Sequence[object] | None = field(default=None, compare=False)


class EndpointWorker:
    """Asks one endpoint. Any thread may call `begin`."""

    def __init__(self, owner: _Asks) -> None:
        """`owner`: has the `rpc` by which the endpoint is asked."""
        self._owner = owner
        self._changed = threading.Condition()
        self._tasks: list[_Task] = []
        self._turns = 0
        self._thread: threading.Thread | None = None
        self._asked_at: float | None = None
        self._hanging: list[threading.Thread] = []

    def begin(self, steps: Steps[T], priority: Priority = Priority.SHOW) -> Future[T]:
        """Have a function ask the endpoint. The future has its result or its error, as of `ask_now`; one that is
        cancelled asks no further question, and its function is closed."""
        future: Future[T] = Future()
        with self._changed:
            self._put(_Task(priority, 0, steps, future))
            self._replace_hanging()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._owner.rpc.endpoint, daemon=True)
                self._thread.start()
            self._changed.notify()
        return future

    def _put(self, task: _Task) -> None:
        task.turn, self._turns = self._turns, self._turns + 1
        heapq.heappush(self._tasks, task)

    def _replace_hanging(self) -> None:
        self._hanging = [each for each in self._hanging if each.is_alive()]
        since = self._asked_at
        hangs = since is not None and time.monotonic() - since >= _HANGS_AFTER
        if hangs and self._thread is not None and len(self._hanging) < _MAX_HANGING:
            self._hanging.append(self._thread)
            self._thread, self._asked_at = None, None

    # ------------------------------------------------------------------------------------------------- in the thread

    def _work(self) -> None:
        while (task := self._next()) is not None:
            if task.questions is None or task.answers is not None:
                self._advance(task)
            else:
                self._ask(task)

    def _next(self) -> _Task | None:
        """The most urgent task; None where this thread is to end."""
        with self._changed:
            while self._is_current:
                if self._tasks:
                    return heapq.heappop(self._tasks)
                if not self._changed.wait(_IDLE_SECONDS) and not self._tasks and self._is_current:
                    self._thread = None
            return None

    @property
    def _is_current(self) -> bool:
        """Whether this is the thread that works now: one that hung for too long was replaced."""
        return self._thread is threading.current_thread()

    def _advance(self, task: _Task) -> None:
        if task.future.cancelled():
            task.steps.close()
            return
        try:
            task.questions = advance(self._owner.rpc.endpoint, task.steps, task.answers)
            task.answers = None
        except StopIteration as end:
            _end(task.future, end.value)
        except BaseException as error:  # its owner is told
            _end(task.future, None, error)
        else:
            with self._changed:
                self._put(task)

    def _ask(self, task: _Task) -> None:
        questions = task.questions or ()
        with self._changed:
            self._asked_at = time.monotonic()
        try:
            answers = answers_of(self._owner.rpc, questions)
        except BaseException as error:  # a library's: its owner is told
            _end(task.future, None, error)
            return
        finally:
            with self._changed:
                if self._is_current:
                    self._asked_at = None
        with self._changed:
            for each in (task, *(other for other in self._tasks if other.questions == questions)):
                each.answers = each.answers or answers
            self._put(task)


def _end(future: Future[T], result: T, error: BaseException | None = None) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
