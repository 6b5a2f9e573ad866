"""Steps: what happens one after the other, with everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import pytest

from forcemove import ActionQueue, InvalidValue, MemoryTransport, opening
from forcemove.flow.steps import (
    ActionMissing,
    NoStep,
    Step,
    Steps,
    UnexpectedAction,
    UnexpectedSender,
    choice,
    local,
    repeat,
    run,
    sequence,
    transition,
)
from tests.expected import raising
from tests.flow.table import CODEC, Delayed, Flooded, Left, Said, queue_of
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_busy, run_virtual

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0


@dataclass
class Context:
    """What was done, in order."""

    name: str = "alice"
    done: list[object] = field(default_factory=list)


Queue = ActionQueue[Said | Left]


async def say(queue: Queue, context: Context) -> None:
    await queue.enqueue(Said(context.name, len(context.done)))


def note(action: Said | Left, context: Context) -> None:
    context.done.append(action)


def play(step: Steps[Context], *actions: Said | Left) -> list[object]:
    """What a step does that finds these actions on the log."""

    async def scenario() -> list[object]:
        queue, context = queue_of(MemoryTransport(), preseed=actions), Context()
        await run(step, queue, context)
        return context.done

    return run_virtual(scenario())


def test_what_we_do_comes_back_to_us() -> None:
    assert play(sequence(local(say), transition(note))) == [Said("alice", 0)]


def test_functions_may_wait_or_not() -> None:
    def at_once(_: Queue, context: Context) -> None:
        context.done.append("local")

    async def later(action: Said | Left, context: Context) -> None:
        await asyncio.sleep(HOUR)
        context.done.append(action)

    assert play(sequence(local(at_once), transition(later)), Left("bob")) == ["local", Left("bob")]


async def test_the_context_is_whatever_the_game_likes() -> None:
    received: dict[str, int] = {}

    def receive(said: Said, context: dict[str, int]) -> None:
        context[said.client_id] = said.number

    await run(transition(receive), queue_of(MemoryTransport(), preseed=[Said("bob", 5)]), received)
    assert received == {"bob": 5}


def test_a_step_is_repeated() -> None:
    said = [Said("alice", number) for number in range(3)]
    assert play(repeat(transition(note), 3), *said) == said
    assert play(repeat(transition(note), 0)) == []
    for times in (-1, 1.0, "3", True, None):
        with pytest.raises(InvalidValue):
            repeat(transition(note), times)  # type: ignore[arg-type]  # what callers without types may write


def received_from_bob(context: Context) -> bool:
    return Left("bob") in context.done


def test_a_step_is_repeated_until_a_condition_of_the_context_holds() -> None:
    log: list[Said | Left] = [Said("alice", 0), Said("alice", 1), Left("bob"), Said("alice", 2)]
    assert play(repeat(transition(note), until=received_from_bob), *log) == log[:3]
    assert play(repeat([transition(note), transition(note)], until=received_from_bob), *log) == log


def test_what_holds_already_needs_no_step() -> None:
    assert play(repeat(transition(note), until=lambda context: not context.done), Left("bob")) == []


def test_who_repeats_says_how_often_or_until_when() -> None:
    with pytest.raises(InvalidValue):
        repeat(transition(note), 3, until=received_from_bob)

    async def later(_: Context) -> bool:
        return False

    for until in (later, True, 3):
        with pytest.raises(InvalidValue):
            repeat(transition(note), until=until)  # type: ignore[arg-type]  # as above


def test_what_is_repeated_for_ever_lets_others_work_and_can_be_cancelled() -> None:
    async def nothing(_: Queue, context: Context) -> None:
        assert len(context.done) < 1_000, "the others never get their turn"
        context.done.append("again")

    async def scenario() -> None:
        endless = asyncio.create_task(
            run(repeat(local(nothing), until=lambda _: False), queue_of(MemoryTransport()), Context())
        )
        for _ in range(20):
            await asyncio.sleep(0)
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless

    run_virtual(scenario())


def test_steps_may_stand_in_lists() -> None:
    one, said = transition(note), [Said("bob", number) for number in range(6)]
    for flow in ([one, one], sequence([one, one]), [[one], [], (one,)], sequence(one, [one]), repeat([one, one], 1)):
        assert play(flow, *said) == said[:2]
    assert play(sequence([one, repeat([one], 2)], one, [choice({Said: [one, one]})]), *said) == said
    assert play([]) == []


@dataclass
class Greeting:
    """An object that is called like a coroutine function."""

    async def __call__(self, _queue: Queue, context: Context) -> None:
        context.done.append("hello")


def test_whatever_is_called_like_a_coroutine_function_is_a_step() -> None:
    async def shout(text: str, _: Queue, context: Context) -> None:
        context.done.append(text)

    assert play([Greeting(), partial(shout, "ho")]) == ["hello", "ho"]


@pytest.mark.parametrize(
    "thing",
    [None, 3, "step", {}, note, lambda _, __: None, opening, Greeting, [[], [None]]],
    ids=["None", "number", "text", "dict", "function", "lambda", "not called", "class", "in a list"],
)
def test_what_is_no_step_is_refused_when_the_flow_is_built(thing: Any) -> None:
    good = transition(note)
    builds: tuple[Callable[[], object], ...] = (
        lambda: sequence(thing),
        lambda: sequence([good, thing]),
        lambda: repeat(thing, 2),
        lambda: repeat(thing, until=received_from_bob),
        lambda: choice({Said: good, Left: thing}),
    )
    for build in builds:
        with pytest.raises(NoStep):
            build()
    with pytest.raises(NoStep):
        play([good, thing], Said("bob", 1))


def test_what_is_no_step_is_found_before_anything_is_done() -> None:
    flow: Any = [local(lambda _, context: context.done.append("done")), note]

    async def scenario() -> None:
        context = Context()
        with pytest.raises(NoStep):
            await run(flow, queue_of(MemoryTransport()), context)
        assert context.done == []

    run_virtual(scenario())


@pytest.mark.parametrize("thing", [None, 3, [note]])
def test_a_step_is_made_of_a_function(thing: Any) -> None:
    for build in (local, transition):
        with pytest.raises(NoStep):
            build(thing)


def test_steps_are_made_of_steps() -> None:
    one = transition(note)
    steps = sequence(repeat(sequence(one, one), 2), sequence(), one, choice({Left: sequence(one)}))
    actions: list[Said | Left] = [*(Said("bob", number) for number in range(5)), Left("bob")]
    assert play(steps, *actions) == actions


def test_a_step_can_be_used_again() -> None:
    step = sequence(local(say), transition(note))
    assert play(step) == play(step) == [Said("alice", 0)]


def test_a_transition_names_the_type_that_it_expects() -> None:
    assert play(transition(note, expects=Said), Said("bob", 1)) == [Said("bob", 1)]
    assert play(transition(note, expects=(Left, Said)), Said("bob", 1)) == [Said("bob", 1)]
    with raising(UnexpectedAction("bob", ("Said",), Left("bob"))):
        play(transition(note, expects=Said), Left("bob"))


def test_a_transition_names_whose_action_it_expects() -> None:
    assert play(transition(note, sender="bob"), Left("bob")) == [Left("bob")]
    assert play(transition(note, sender=("alice", "bob")), Left("bob")) == [Left("bob")]
    assert play(transition(note, sender=lambda context: context.name), Left("alice")) == [Left("alice")]
    with raising(UnexpectedSender("mallory", ("bob",), Left("mallory"))):
        play(transition(note, sender="bob"), Left("mallory"))


async def test_what_was_not_expected_is_not_handed_on() -> None:
    for step in (transition(note, expects=Said), transition(note, sender="bob")):
        context = Context()
        with pytest.raises((UnexpectedAction, UnexpectedSender)):
            await run(step, queue_of(MemoryTransport(), preseed=[Left("mallory")]), context)
        assert context.done == []


def test_a_silent_client_does_not_hang_us() -> None:
    with raising(ActionMissing(("bob",), HOUR)):
        play(transition(note, sender="bob", within=HOUR))
    with pytest.raises(ActionMissing):
        play(choice({Said: transition(note)}, within=HOUR))


def test_who_shouts_all_the_time_does_not_stop_the_clock() -> None:
    async def scenario() -> None:
        queue = ActionQueue(Flooded(), CODEC, skip=lambda _: None)
        with pytest.raises(ActionMissing):
            await run(transition(note, within=1), queue, Context())

    run_busy(scenario())


async def test_what_comes_in_time_is_taken() -> None:
    queue, context = queue_of(MemoryTransport()), Context()

    async def bob() -> None:
        await asyncio.sleep(HOUR - 1)
        await queue.enqueue(Left("bob"))

    async with asyncio.TaskGroup() as group:
        group.create_task(bob())
        await run(transition(note, within=HOUR), queue, context)
    assert context.done == [Left("bob")]


async def test_a_deadline_that_has_passed_loses_nothing_that_comes_later() -> None:
    queue, context = queue_of(MemoryTransport()), Context()
    with pytest.raises(ActionMissing):
        await run(transition(note, within=1), queue, context)
    await queue.enqueue(Left("bob"))
    await run(transition(note, within=1), queue, context)
    assert context.done == [Left("bob")]


def test_a_timeout_of_the_games_own_is_not_taken_for_silence() -> None:
    async def own(_action: Said | Left, _context: Context) -> None:
        async with asyncio.timeout(1):
            await asyncio.sleep(HOUR)

    with pytest.raises(TimeoutError):
        play(transition(own, within=HOUR), Left("bob"))


def test_a_choice_is_made_by_the_type_of_what_comes_next() -> None:
    def leave(_: Queue, context: Context) -> None:
        context.done.append("left")

    branches: Step[Context] = choice({Said: transition(note), Left: sequence(transition(note), local(leave))})
    assert play(branches, Said("bob", 1)) == [Said("bob", 1)]
    assert play(branches, Left("bob")) == [Left("bob"), "left"]


def test_a_choice_refuses_what_is_no_branch() -> None:
    with raising(UnexpectedAction("bob", ("Said",), Left("bob"))):
        play(choice({Said: transition(note)}), Left("bob"))
    with pytest.raises(UnexpectedSender):
        play(choice({Left: transition(note)}, sender="alice"), Left("bob"))


def test_an_error_of_the_game_ends_the_flow_and_the_rest_is_not_done() -> None:
    def fail(_action: Said | Left, _context: Context) -> None:
        raise ZeroDivisionError

    async def scenario() -> None:
        queue, context = queue_of(MemoryTransport(), preseed=[Left("bob"), Left("bob")]), Context()
        with pytest.raises(ZeroDivisionError):
            await run(sequence(transition(fail), transition(note)), queue, context)
        assert context.done == []
        assert await queue.dequeue() == Left("bob")

    run_virtual(scenario())


def test_a_flow_can_be_cancelled_wherever_it_waits() -> None:
    """It leaves no task behind, and no action half taken."""

    async def scenario(number: int) -> bool:
        log = Delayed(MemoryTransport(), Random(number))
        context = Context()
        flow = repeat(sequence(local(say), transition(note, within=HOUR)), 3)
        cancelled = await cancelled_at(number, run(flow, queue_of(log), context))
        assert context.done == [Said("alice", number) for number in range(len(context.done))]
        assert len(context.done) <= log.length()
        return cancelled

    assert at_every_wait(scenario) > 6
