"""What asks an endpoint, written without I/O: functions that yield questions, are given the answers, and return what
follows from them. When and how the questions are asked is for what drives these functions: `ask_now`, an endpoint's
worker, or a table of answers in a test.

    @asking
    def block_hash(self, number: int) -> Steps[bytes]:
        block = yield from self.block.steps(number)
        return as_hash(block["hash"])

    chain.block_hash(7)                           # asks now
    found = yield from chain.block_hash.steps(7)  # in another function that asks
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.rpc import Rpc, making_sense
from forcemove.errors import ForcemoveError, PassingError

__all__ = ["Asking", "RpcRequest", "Steps", "advance", "answers_of", "ask", "ask_now", "ask_within"]
__all__ += ["asking", "together"]

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """One JSON-RPC request: its method and parameters."""

    method: str
    params: tuple[Any, ...]


Steps = Generator[Sequence[RpcRequest], Sequence[object], T]
"""Yields questions that may be asked in any order, and is sent as many answers: each is what the endpoint has answered,
or the exception of that question (`PassingError`, `Reverted`). Returns the result. Raises a `ForcemoveError`; any other
exception means that an answer made no sense."""


def ask(method: str, *params: Any) -> Steps[Any]:
    """Ask one question; the answer as the endpoint gave it. Raises what the question has raised."""
    (answer,) = yield (RpcRequest(method, params),)
    if isinstance(answer, Exception):
        raise answer
    return answer


def together(parts: Iterable[Steps[T]]) -> Steps[list[T | ForcemoveError]]:
    """Ask what all parts ask, side by side. For each part, in their order, what it has returned, or its error: one that
    fails hinders no other."""
    found: dict[int, T | ForcemoveError] = {}
    running, answers = dict(enumerate(parts)), dict[int, Sequence[object] | None]()
    while running:
        questions: dict[int, Sequence[RpcRequest]] = {}
        for index, part in tuple(running.items()):
            try:
                questions[index] = part.send(cast("Sequence[object]", answers.get(index)))
            except StopIteration as end:
                found[index] = end.value
            except ForcemoveError as error:
                found[index] = error
            if index in found:
                del running[index]
        if not running:
            break
        given = iter((yield [each for index in running for each in questions[index]]))
        answers = {index: [next(given) for _ in questions[index]] for index in running}
    return [found[index] for index in sorted(found)]


def advance(endpoint: str, steps: Steps[T], answers: Sequence[object] | None) -> Sequence[RpcRequest]:
    """Give a function that asks its answers, None at its start; its next questions. Raises `StopIteration` with the
    result at its end, `NotAnEthereumEndpoint` where it can make nothing of an answer, and its own errors."""
    ended: StopIteration
    with making_sense(endpoint):
        try:
            return steps.send(cast("Sequence[object]", answers))
        except StopIteration as end:
            ended = end
    raise ended


def answers_of(
    rpc: Rpc, questions: Sequence[RpcRequest], why_not: Callable[[], ForcemoveError | None] = lambda: None
) -> list[object]:
    """Ask these questions, as many at once as the endpoint takes. After one that brought no answer the others are not
    asked: what fails them is the same. `why_not`: asked before each exchange but the first; where it has an error, that
    is the answer to the rest."""
    requests, found = [(each.method, each.params) for each in questions], list[object]()
    while len(found) < len(questions):
        if found and (error := why_not()) is not None:
            found.append(error)
            break
        answers = rpc.request_some(requests[len(found) :])
        found += answers
        if any(isinstance(each, PassingError) and not isinstance(each, EndpointFailed) for each in answers):
            break
    return found + found[-1:] * (len(questions) - len(found))


def ask_now(rpc: Rpc, steps: Steps[T]) -> T:
    """Ask all that a function asks, in this thread. Raises what it raises, and `NotAnEthereumEndpoint` where an answer
    makes no sense."""
    answers: Sequence[object] | None = None
    try:
        while True:
            answers = answers_of(rpc, advance(rpc.endpoint, steps, answers))
    except StopIteration as end:
        return cast("T", end.value)


def ask_within(rpc: Rpc, steps: Steps[T], seconds: float, clock: Callable[[], float] = time.monotonic) -> T | None:
    """`ask_now` for so many seconds of the clock, but at least one question; then the function is closed, which keeps
    by itself what it has learned of the answers. None where it was closed. Raises as `ask_now`."""
    end, over = clock() + seconds, Unreachable(rpc.endpoint, "the time for asking it is used up")
    answers: Sequence[object] | None = None
    try:
        while True:
            questions = advance(rpc.endpoint, steps, answers)
            if answers is not None and clock() >= end:
                steps.close()
                return None
            answers = answers_of(rpc, questions, lambda: over if clock() >= end else None)
    except StopIteration as ended:
        return cast("T", ended.value)
    except Unreachable as error:
        if error is not over:
            raise
    return None


class _Asks(Protocol):
    @property
    def rpc(self) -> Rpc: ...


OwnerT = TypeVar("OwnerT", bound=_Asks)


class Asking(Generic[P, T]):
    """A method that asks. Called, it asks now; `steps` is the same as a function that yields questions."""

    def __init__(self, rpc: Rpc, steps: Callable[P, Steps[T]]) -> None:
        self._rpc, self.steps = rpc, steps

    def __call__(self, *args: P.args, **options: P.kwargs) -> T:
        """Ask now. Raises as `ask_now`."""
        return ask_now(self._rpc, self.steps(*args, **options))


class asking(Generic[OwnerT, P, T]):  # noqa: N801  # a decorator
    """Makes an `Asking` of a method that yields questions. Its object has the `rpc` by which it asks."""

    def __init__(self, function: Callable[Concatenate[OwnerT, P], Steps[T]]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    @overload
    def __get__(self, owner: None, kind: type[OwnerT]) -> Self: ...

    @overload
    def __get__(self, owner: OwnerT, kind: type[OwnerT] | None = None) -> Asking[P, T]: ...

    def __get__(self, owner: OwnerT | None, kind: type[OwnerT] | None = None) -> Asking[P, T] | Self:
        return self if owner is None else Asking(owner.rpc, partial(self._function, owner))
