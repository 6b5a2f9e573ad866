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

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.rpc import Rpc, making_sense
from forcemove.errors import ForcemoveError, PassingError

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


def never() -> bool:
    """The time for asking is not used up."""
    return False


class Exchanges(Generic[T]):
    """A function that asks, as far as it has come. Between two exchanges with the endpoint something else may be asked.

    `questions`: those that the function waits for, None before it was begun."""

    def __init__(self, steps: Steps[T], is_over: Callable[[], bool] = never) -> None:
        """`is_over`: whether the time for asking is used up, which is at least one exchange. What is still unanswered
        then fails, and where the function goes on to ask it is closed: it keeps by itself what it has learned."""
        self.questions: Sequence[RpcRequest] | None = None
        self._steps, self._is_over = steps, is_over
        self._answers: list[object] = []
        self._late: Unreachable | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the function can go on."""
        return self.questions is None or len(self._answers) >= len(self.questions)

    @property
    def is_partly_answered(self) -> bool:
        """Whether some of the questions that go together are answered, and others are not."""
        return bool(self._answers) and not self.is_answered

    def advance(self, endpoint: str) -> None:
        """Give the function the answers; it asks more then. Raises `StopIteration` with the result at its end, None
        where it was closed; `NotAnEthereumEndpoint` where it can make nothing of an answer; its own errors."""
        answers, self._answers = None if self.questions is None else self._answers, []
        ended: StopIteration
        with making_sense(endpoint):
            try:
                self.questions = self._steps.send(cast("Sequence[object]", answers))
            except StopIteration as end:
                ended = end
            except Unreachable as error:
                if error is not self._late:
                    raise
                ended = StopIteration(None)
            else:
                if answers is None or not self._is_over():
                    return
                self.close()
                ended = StopIteration(None)
        raise ended

    def ask(self, rpc: Rpc) -> None:
        """Make one exchange: as many questions as go out together. After one that brought no answer the others are not
        asked: what fails them is the same."""
        questions = self.questions or ()
        if self._answers and self._is_over():
            self._late = Unreachable(rpc.endpoint, "the time for asking it is used up")
            found: list[object] = [self._late]
        else:
            found = rpc.request_some([(each.method, each.params) for each in questions[len(self._answers) :]])
        self._answers += found
        if any(isinstance(each, PassingError) and not isinstance(each, EndpointFailed) for each in found):
            self._answers += found[-1:] * (len(questions) - len(self._answers))

    def answer_as(self, other: Exchanges[Any]) -> None:
        """Where none of the questions was asked yet, and another function has answers to the same ones, take those."""
        if self.questions == other.questions and not self._answers:
            self._answers = other._answers

    def close(self) -> None:
        """Ask no more, and close the function."""
        self._steps.close()


def ask_now(rpc: Rpc, steps: Steps[T]) -> T:
    """Ask all that a function asks, in this thread. Raises what it raises, and `NotAnEthereumEndpoint` where an answer
    makes no sense."""
    asked = Exchanges(steps)
    try:
        while True:
            asked.advance(rpc.endpoint)
            while not asked.is_answered:
                asked.ask(rpc)
    except StopIteration as end:
        return cast("T", end.value)


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
