"""The endpoints of one chain as a sender uses them: all are asked at once, and none waits for another.

Each endpoint has a thread of its own, so that one that hangs holds up no other: it is not asked until it answers, and
after a minute it gets another thread. An endpoint that fails rests, longer each time. A single endpoint is asked in the
caller's thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar
from weakref import finalize

from forcemove.backoff import doubled, spread
from forcemove.chain.chain import Chain
from forcemove.chain.errors import NotAnEthereumEndpoint, Unreachable
from forcemove.errors import ForcemoveError, PassingError
from forcemove.sender.errors import StillToSend

__all__ = ["Endpoint", "Endpoints"]

ResultT = TypeVar("ResultT")
_NEXT_AFTER, _GRACE, _LONGEST = 0.2, 1.0, 15.0
"""Seconds: from one endpoint's question to the next one's where the first has not answered yet, so that chains in this
process are asked by one thread at a time; for which the others are waited for after the first has answered; and for
which the first answer is waited for."""
_GIVEN_UP, _MAX_GIVEN_UP = 60.0, 4
"""Seconds after which a thread that hangs is replaced; how many of an endpoint's threads may hang before it is asked no
more until one of them ends."""
_REST, _LONGEST_REST = 5.0, 30.0
"""Seconds for which an endpoint that has failed rests, at first and at most; it may take as long to fail again."""
_MAX_ERRORS, _HALF_MINUTE = 32, 30
_Jobs = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
"""The jobs of a thread; None ends it."""


class Endpoint:
    """One endpoint, and its thread."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.failures, self.rests_until = 0, 0.0
        self.asked: Future[Any] | None = None
        self._began = 0.0
        self._hanging: list[Future[Any]] = []
        self._jobs: _Jobs | None = None

    @property
    def is_free(self) -> bool:
        """Whether the endpoint can be asked now. One whose thread has hung for too long gets another thread."""
        self._hanging = [each for each in self._hanging if not each.done()]
        if self.asked is None:
            return True
        if time.monotonic() - self._began < _GIVEN_UP or len(self._hanging) >= _MAX_GIVEN_UP:
            return False
        self._hanging.append(self.asked)
        if self._jobs is not None:
            self._jobs.put(None)
        self.asked, self._jobs = None, None
        return True

    def begin(self, job: Callable[[], ResultT]) -> Future[ResultT]:
        """Do this job in the endpoint's own thread."""
        future: Future[ResultT] = Future()
        self.asked, self._began = future, time.monotonic()
        if self._jobs is None:
            self._jobs = SimpleQueue()
            Thread(target=_work, args=(self._jobs,), daemon=True, name="sender's endpoint").start()
            finalize(self, self._jobs.put, None)
        self._jobs.put((future, job))
        return future


class Endpoints:
    """All endpoints of a sender, at least one. `errors`: how endpoints have failed since that was last read, also where
    another one has answered."""

    def __init__(self, chains: Sequence[Chain], clock: Callable[[], float]) -> None:
        """`clock`: seconds, by which endpoints that have failed rest."""
        self.all = [Endpoint(chain) for chain in chains]
        self.errors: list[PassingError] = []
        self._clock = clock
        self._failing: tuple[float, int] | None = None

    def on_look(self, failure: ForcemoveError | None, waiting: Sequence[str]) -> None:
        """Add to the errors what is to be sent, after each half minute of looks that fail. `failure`: why a look has
        failed, None where it has not; `waiting`: in words, what is to be sent."""
        if failure is None:
            self._failing = None
            return
        since, before = self._failing = self._failing or (self._clock(), 0)
        halves = int((self._clock() - since) // _HALF_MINUTE)
        if waiting and halves > before:
            self.errors.append(StillToSend(tuple(dict.fromkeys(waiting)), _HALF_MINUTE * halves, failure))
            self._failing = since, halves

    def __len__(self) -> int:
        return len(self.all)

    def ask(
        self, job: Callable[[Endpoint], ResultT], among: Collection[Endpoint] | None = None
    ) -> dict[Endpoint, ResultT]:
        """The job's result for each endpoint that answers. An error of the job is its endpoint's failure. `among`: the
        endpoints to ask; all unless given.

        Raises `PassingError` where none answers.
        """
        self._collect_late()
        del self.errors[:-_MAX_ERRORS]
        before = len(self.errors)
        ready = [endpoint for endpoint in self._ready() if among is None or endpoint in among]
        if len(self.all) == 1:
            found = {endpoint: future for endpoint in ready for future in (_at_once(job, endpoint),)}
        else:
            found = self._ask_many(job, ready)
        answers: dict[Endpoint, ResultT] = {}
        for endpoint, future in found.items():
            if self._is_well(endpoint, future):
                answers[endpoint] = future.result()
        if not answers:
            new = self.errors[before:]
            raise new[0] if new else Unreachable(self.all[0].chain.endpoint, "no endpoint answers in time")
        return answers

    def _ask_many(
        self, job: Callable[[Endpoint], ResultT], ready: Sequence[Endpoint]
    ) -> dict[Endpoint, Future[ResultT]]:
        asked: dict[Endpoint, Future[ResultT]] = {}
        for endpoint in ready:
            asked[endpoint] = endpoint.begin(lambda endpoint=endpoint: job(endpoint))  # type: ignore[misc]
            wait([asked[endpoint]], _NEXT_AFTER)
        wait(asked.values(), _LONGEST, FIRST_COMPLETED)
        wait(asked.values(), _GRACE)
        done = {endpoint: future for endpoint, future in asked.items() if future.done()}
        for endpoint in done:
            endpoint.asked = None
        return done

    def _ready(self) -> list[Endpoint]:
        """The free endpoints that do not rest; where all rest, all free ones."""
        now = self._clock()
        free = [endpoint for endpoint in self.all if endpoint.is_free]
        return [endpoint for endpoint in free if endpoint.rests_until <= now] or free

    def _collect_late(self) -> None:
        """Take in late answers: they are not used, but show whether their endpoints fail."""
        for endpoint in self.all:
            if endpoint.asked is not None and endpoint.asked.done():
                self._is_well(endpoint, endpoint.asked)
                endpoint.asked = None

    def _is_well(self, endpoint: Endpoint, future: Future[Any]) -> bool:
        error = future.exception()
        if error is None:
            endpoint.failures, endpoint.rests_until = 0, 0.0
            return True
        if not isinstance(error, Exception):
            raise error
        endpoint.failures += 1
        endpoint.rests_until = self._clock() + spread(doubled(_REST, endpoint.failures - 1, _LONGEST_REST))
        self.errors.append(_typed(endpoint, error))
        return False


def _typed(endpoint: Endpoint, error: Exception) -> PassingError:
    """The error as one of ours: whatever a decoder or a library raises, its cause was the endpoint's answer."""
    if isinstance(error, PassingError):
        return error
    return NotAnEthereumEndpoint(endpoint.chain.endpoint, f"its answer makes no sense: {error!r:.80}")


def _at_once(job: Callable[[Endpoint], ResultT], endpoint: Endpoint) -> Future[ResultT]:
    future: Future[ResultT] = Future()
    _perform(future, lambda: job(endpoint))
    return future


def _perform(future: Future[Any], job: Callable[[], Any]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:
        future.set_exception(error)


def _work(jobs: _Jobs) -> None:
    """An endpoint's thread. It keeps no reference to a job that is done, so that its endpoint, once unused, is freed,
    which ends the thread."""
    while (given := jobs.get()) is not None:
        _perform(*given)
        del given
