"""What asks an endpoint all that this process wants of it: one thread, the most urgent first.

What asks is a function that yields questions, see `forcemove.chain.asking`. More urgent ones go between the questions
of less urgent ones. So no long reading holds up what defends, and no endpoint waits for another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from forcemove.chain.asking import Exchanges, Steps, never
from forcemove.chain.errors import EndpointHangs
from forcemove.chain.rpc import Rpc
from forcemove.chain.task_queue import Priority, Task, TaskQueue
from forcemove.chain.threads import Condition, Thread, start_thread, wait

T = TypeVar("T")
_HANGS_AFTER, _MAX_HANGING = 60.0, 4
"""Seconds of one question after which its thread is left to itself and another one goes on; how many of an endpoint's
threads may hang before it is asked no more until one of them ends."""
_IDLE_SECONDS = 5.0
"""Seconds without a question after which the thread ends; the next question begins another."""
_SLICE = 1.0
"""Seconds after which a look is asked whether it still waits."""

Look = Generator[Sequence[Future[Any]], None, T]
"""A look at something outside, in its owner's thread: yields what it waits for, and may go on when one of these is done
or some time later. Where it is closed before its end it has not taken place."""


class _Asks(Protocol):
    @property
    def rpc(self) -> Rpc: ...


class EndpointWorker:
    """Asks one endpoint. Any thread may call `begin`."""

    def __init__(self, owner: _Asks) -> None:
        """`owner`: has the `rpc` by which the endpoint is asked."""
        self._owner = owner
        self._changed = Condition()
        self._tasks = TaskQueue()
        self._thread: Thread | None = None
        self._asked_at: float | None = None
        self._hanging: list[Thread] = []
        self._shift = 0

    @property
    def endpoint(self) -> str:
        """The endpoint's name, without secrets."""
        return self._owner.rpc.endpoint

    @property
    def is_hanging(self) -> bool:
        """Whether the endpoint has been asked one thing for longer than any answer takes: what waits for it now will
        never end, and what is begun from now on is asked by another thread."""
        since = self._asked_at
        return since is not None and time.monotonic() - since >= _HANGS_AFTER

    def begin(
        self, steps: Steps[T], priority: Priority = Priority.SHOW, is_over: Callable[[], bool] = never
    ) -> Future[T]:
        """Have a function ask the endpoint; a chain of this process is asked in the caller's thread, and has answered
        when this returns. The future has its result or its error, as of `ask_now`, or None where `is_over` has ended
        it, see `Exchanges`. One that is cancelled asks no further question, and its function is closed."""
        asked = Exchanges(steps, is_over)
        if self._owner.rpc.is_here:
            return self._ask_at_once(asked)
        with self._changed:
            future = self._tasks.begin(asked, priority)
            self._replace_hanging()
            if self._thread is None:
                self._shift += 1
                self._thread = start_thread(partial(self._work, self._shift), self.endpoint)
            self._changed.notify()
        return future

    def _ask_at_once(self, asked: Exchanges[T]) -> Future[T]:
        task = Task(0, Priority.DEFEND, asked)
        while task.go_on(self._owner.rpc):
            pass
        return task.future

    def _replace_hanging(self) -> None:
        self._hanging = [each for each in self._hanging if each.is_alive()]
        if not self.is_hanging or self._thread is None:
            return
        self._tasks.drop_cancelled()
        if len(self._hanging) < _MAX_HANGING:
            self._hanging.append(self._thread)
            self._thread, self._asked_at = None, None

    # ------------------------------------------------------------------------------------------------- in the thread

    def _work(self, shift: int) -> None:
        """Ask until nothing is left to ask, or another thread has begun: each has its own number."""
        while (task := self._next(shift)) is not None:
            goes_on = task.go_on(self._owner.rpc)
            with self._changed:
                if self._is_at_work(shift):
                    self._asked_at = None
                if goes_on:
                    self._tasks.put_back(task)
                    self._changed.notify()

    def _next(self, shift: int) -> Task | None:
        """The most urgent task; None where this thread is to end."""
        with self._changed:
            while self._is_at_work(shift):
                if self._tasks:
                    self._asked_at = time.monotonic()
                    return self._tasks.take()
                if not self._changed.wait(_IDLE_SECONDS) and not self._tasks and self._is_at_work(shift):
                    self._thread = None
            return None

    def _is_at_work(self, shift: int) -> bool:
        """Whether this is the thread that works now: one that hung for too long was replaced."""
        return self._thread is not None and self._shift == shift


def waiting_for(
    worker: EndpointWorker,
    steps: Steps[T],
    priority: Priority = Priority.SHOW,
    is_over: Callable[[], bool] = never,
) -> Look[T]:
    """Have a function ask an endpoint, as of `EndpointWorker.begin`; its result. Raises as `ask_now`, and
    `EndpointHangs`."""
    begun = worker.begin(steps, priority, is_over)
    try:
        while not begun.done():
            if worker.is_hanging:
                raise EndpointHangs(worker.endpoint, _HANGS_AFTER)
            yield (begun,)
    finally:
        begun.cancel()
    return begun.result()


def wait_for(look: Look[T]) -> T:
    """Wait for the end of a look; its result. Raises what it raises."""
    try:
        while True:
            wait(next(look), _SLICE)
    except StopIteration as end:
        return cast("T", end.value)
