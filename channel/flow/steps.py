"""Steps: a protocol told as a sequence of what we do and what we wait for.

A step is any coroutine function of a queue and a context, so steps are made of steps: `sequence`, `repeat` and `choice`
give steps again, and the context is whatever the game makes of it. (`transition` here awaits an action. Apps' rules
about two states are called `valid_transition`.) After the state machine of the Mental Poker Toolkit's documents.

>>> import asyncio
>>> from channel.flow.actions import Action, ActionCodec
>>> from channel.flow.queue import ActionQueue
>>> from channel.flow.transport import MemoryTransport
>>> class Hello(Action, frozen=True):
...     pass
>>> async def greet(queue, context):
...     await queue.enqueue(Hello("alice"))
>>> flow = sequence(local(greet), transition(lambda action, context: context.append(action.client_id), expects=Hello))
>>> heard = []
>>> asyncio.run(run(flow, ActionQueue(MemoryTransport(), ActionCodec(Hello)), heard))
>>> heard
['alice']
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from channel.errors import ForcemoveError, InvalidValue
from channel.flow.actions import Action
from channel.flow.queue import ActionQueue

__all__ = [
    "NothingHeard",
    "Step",
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
Sender = str | Collection[str] | Callable[[C], str | Collection[str]]
"""Whose action is waited for: a client, one of several, or a function of the context that tells."""


@dataclass(eq=False)
class UnexpectedAction(ForcemoveError):
    """A client has done something else than what was its turn to do. `expected`: the types that were allowed."""

    client_id: str
    expected: tuple[str, ...]
    action: Action


@dataclass(eq=False)
class UnexpectedSender(ForcemoveError):
    """A client has acted for which it was not the turn. `expected`: who was to act."""

    client_id: str
    expected: tuple[str, ...]
    action: Action


@dataclass(eq=False)
class NothingHeard(ForcemoveError):
    """Nobody has acted within the time. `expected`: who was to act, empty where it could be anybody; `seconds`: how
    long we waited."""

    expected: tuple[str, ...]
    seconds: float


def local(function: Callable[[ActionQueue[A], C], object]) -> Step[C]:
    """What we do: `function(queue, context)`, sync or async, usually posts an action."""

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
    """What follows from the next action: `function(action, context)`, sync or async.

    `expects`: its type, or one of several; `sender`: whose it is; `within`: seconds until it must have come. Where
    these are not given, anything, anybody and any time will do. Raises `UnexpectedAction`, `UnexpectedSender`,
    `NothingHeard`; the function has not been called then.
    """
    types: tuple[type[Action], ...] = expects if isinstance(expects, tuple) else (expects,)

    async def step(queue: ActionQueue[A], context: C) -> None:
        senders = _senders(sender, context)
        action = await _within(within, queue.dequeue(), senders)
        _require_expected(action, types, senders)
        await _finished(function(action, context))

    return step


def choice(branches: Mapping[type[Any], Step[C]], *, sender: Sender[C] = (), within: float | None = None) -> Step[C]:
    """One of several steps, by the type of the action that comes next; the branch's first transition gets that action.

    Raises as `transition` does, where the action is of no branch's type.
    """

    async def step(queue: ActionQueue[A], context: C) -> None:
        senders = _senders(sender, context)
        action = await _within(within, queue.peek(), senders)
        _require_expected(action, tuple(branches), senders)
        await branches[type(action)](queue, context)

    return step


def repeat(step: Step[C], times: int) -> Step[C]:
    """The step so many times, one after the other. Raises `InvalidValue` where `times` is negative."""
    if times < 0:
        raise InvalidValue("times", times, "0 or more")
    return sequence(*(step for _ in range(times)))


def sequence(*steps: Step[C]) -> Step[C]:
    """The steps, one after the other."""

    async def step(queue: ActionQueue[Any], context: C) -> None:
        for each in steps:
            await each(queue, context)

    return step


async def run(step: Step[C], queue: ActionQueue[Any], context: C) -> None:
    """Do the step to its end. Raises what it raises."""
    await step(queue, context)


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
        raise NothingHeard(senders, seconds) from None


def _require_expected(action: Action, types: tuple[type[Action], ...], senders: tuple[str, ...]) -> None:
    if types and type(action) not in types:
        raise UnexpectedAction(action.client_id, tuple(each.__name__ for each in types), action)
    if senders and action.client_id not in senders:
        raise UnexpectedSender(action.client_id, senders, action)


async def _finished(result: object) -> None:
    if inspect.isawaitable(result):
        await result
