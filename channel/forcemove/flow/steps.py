"""Steps: a protocol as a sequence of what we do and what we wait for.

A step is any coroutine function of a queue and a context, so steps are made of steps: `sequence`, `repeat` and `choice`
give steps again, and the context is whatever the game makes of it. Where a step is wanted, a list of steps will do: it
is done in its order. What is not a step is refused when the flow is built. (`transition` here awaits an action. Apps'
rules about two states are called `valid_transition`.) After the state machine of the Mental Poker Toolkit's documents.

>>> import asyncio
>>> from forcemove.flow.actions import Action, ActionCodec
>>> from forcemove.flow.queue import ActionQueue
>>> from forcemove.flow.transport import MemoryTransport
>>> class Hello(Action, frozen=True):
...     pass
>>> async def greet(queue, context):
...     await queue.enqueue(Hello("alice"))
>>> flow = [local(greet), transition(lambda action, context: context.append(action.client_id), expects=Hello)]
>>> heard = []
>>> asyncio.run(run(flow, ActionQueue(MemoryTransport(), ActionCodec(Hello)), heard))
>>> heard
['alice']
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from forcemove.errors import CounterpartyError, InvalidValue, LocalError
from forcemove.flow.actions import Action, type_of
from forcemove.flow.queue import ActionQueue

__all__ = [
    "NoStep",
    "ActionMissing",
    "Step",
    "Steps",
    "UnexpectedAction",
    "UnexpectedSender",
    "choice",
    "local",
    "repeat",
    "run",
    "sequence",
    "transition",
]

A = TypeVar("A", bound=Action)
C = TypeVar("C")
Step = Callable[[ActionQueue[Any], C], Awaitable[None]]
"""A link of a protocol: does its part with a queue and the game's context, and ends."""
Steps = Step[C] | Sequence["Steps[C]"]
"""A step, or several in a list, which are done one after the other. Lists may have lists in them."""
Sender = str | Collection[str] | Callable[[C], str | Collection[str]]
"""Whose action is waited for: a client, one of several, or a function of the context that returns one or more."""


class NoStep(LocalError):
    """A flow was built of something else than steps, or a step of something else than a function. `found`: what it was
    built of, often a function that returns a step and was not called, or one that `local` or `transition` makes a step
    of."""

    found: str


class UnexpectedAction(CounterpartyError):
    """A client has done something else than what was its turn to do. `expected`: the types that were allowed."""

    client_id: str
    expected: tuple[str, ...]
    action: Action


class UnexpectedSender(CounterpartyError):
    """A client has acted out of turn. `expected`: the clients that might act."""

    client_id: str
    expected: tuple[str, ...]
    action: Action


class ActionMissing(CounterpartyError):
    """Nobody has acted within the time. `expected`: the clients that might act, empty where any might; `seconds`: how
    long we waited."""

    expected: tuple[str, ...]
    seconds: float


def local(function: Callable[[ActionQueue[A], C], object]) -> Step[C]:
    """Our part: `function(queue, context)`, sync or async, usually posts an action. Raises `NoStep`."""
    _require_callable(function)

    async def step(queue: ActionQueue[A], context: C) -> None:
        await _finished(function(queue, context))

    return step


def transition(
    function: Callable[[A, C], object],
    *,
    expects: type[Any] | tuple[type[Any], ...] = (),
    sender: Sender[C] = (),
    within: float | None = None,
) -> Step[C]:
    """Wait for the next action, then call `function(action, context)`, sync or async.

    `expects`: the action's type, or one of several; `sender`: who may send it; `within`: seconds until it must have
    come. By default any action of anybody will do, at any time. Raises `NoStep` when the step is built; later
    `UnexpectedAction`, `UnexpectedSender`, `ActionMissing`, and the function has not been called then.
    """
    _require_callable(function)
    types: tuple[type[Action], ...] = expects if isinstance(expects, tuple) else (expects,)

    async def step(queue: ActionQueue[A], context: C) -> None:
        senders = _senders(sender, context)
        action = await _within(within, queue.dequeue(), senders)
        _require_expected(action, types, senders)
        await _finished(function(action, context))

    return step


def choice(branches: Mapping[type[Any], Steps[C]], *, sender: Sender[C] = (), within: float | None = None) -> Step[C]:
    """One of several steps, by the type of the action that comes next; the branch's first transition gets that action.

    Raises as `transition` does, where the action is of no branch's type.
    """
    steps = {type_: sequence(branch) for type_, branch in branches.items()}

    async def step(queue: ActionQueue[A], context: C) -> None:
        senders = _senders(sender, context)
        action = await _within(within, queue.peek(), senders)
        _require_expected(action, tuple(steps), senders)
        await steps[type(action)](queue, context)

    return step


def repeat(step: Steps[C], times: int | None = None, *, until: Callable[[C], object] | None = None) -> Step[C]:
    """Repeat a step: `times` times, or until a condition of the context holds, which is asked before each repetition.

    Where the condition never holds, the step is repeated forever; other tasks get their turn in between. Raises
    `NoStep`, and `InvalidValue` where `times` is not a number from 0 on, `until` no plain function, or not just one of
    them is given.
    """
    one = sequence(step)
    if until is not None and times is None:
        return _repeated_until(one, until)
    if until is not None or type(times) is not int or times < 0:
        raise InvalidValue("times", times, "a number, 0 or more, or a condition as `until`")
    count = times

    async def repeated(queue: ActionQueue[Any], context: C) -> None:
        for _ in range(count):
            await one(queue, context)

    return repeated


def _repeated_until(one: Step[C], until: Callable[[C], object]) -> Step[C]:
    if not callable(until) or _is_coroutine_function(until):  # a coroutine is true, whatever it would answer
        raise InvalidValue("until", until, "a function of the context that is not async")

    async def repeated(queue: ActionQueue[Any], context: C) -> None:
        while not until(context):
            await one(queue, context)
            await asyncio.sleep(0)  # a step that never waits must not keep the other tasks from running

    return repeated


def sequence(*steps: Steps[C]) -> Step[C]:
    """The steps, one after the other, as arguments or in lists. Raises `NoStep`."""
    each_step = tuple(_flat(steps))

    async def step(queue: ActionQueue[Any], context: C) -> None:
        for each in each_step:
            await each(queue, context)

    return step


async def run(steps: Steps[C], queue: ActionQueue[Any], context: C) -> None:
    """Do a step, or all in a list, to the end. Raises what they raise, and `NoStep` before it has done anything."""
    await sequence(steps)(queue, context)


def _flat(steps: Steps[C] | tuple[Steps[C], ...]) -> Iterator[Step[C]]:
    if isinstance(steps, list | tuple):
        for each in steps:
            yield from _flat(each)
    elif _is_coroutine_function(steps):
        yield steps
    else:
        raise NoStep(repr(steps))


def _is_coroutine_function(found: object) -> TypeGuard[Callable[..., Awaitable[None]]]:
    """Whether a function, or an object that is called like one, is a coroutine function."""
    return inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(type(found).__call__)


def _require_callable(function: object) -> None:
    if not callable(function):
        raise NoStep(repr(function))


def _senders(sender: Sender[C], context: C) -> tuple[str, ...]:
    found = sender(context) if callable(sender) else sender
    return (found,) if isinstance(found, str) else tuple(found)


async def _within(seconds: float | None, waiting: Awaitable[A], senders: tuple[str, ...]) -> A:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await waiting
    except TimeoutError:
        if seconds is None or not limit.expired():
            raise
        raise ActionMissing(senders, seconds) from None


def _require_expected(action: Action, types: tuple[type[Action], ...], senders: tuple[str, ...]) -> None:
    if types and type(action) not in types:
        raise UnexpectedAction(action.client_id, tuple(map(type_of, types)), action)
    if senders and action.client_id not in senders:
        raise UnexpectedSender(action.client_id, senders, action)


async def _finished(result: object) -> None:
    if inspect.isawaitable(result):
        await result
