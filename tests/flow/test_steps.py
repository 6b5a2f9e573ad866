"""Steps: what happens one after the other, with everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

import pytest

from channel.errors import InvalidValue
from channel.flow.queue import ActionQueue
from channel.flow.steps import (
    NothingHeard,
    Step,
    UnexpectedAction,
    UnexpectedSender,
    choice,
    local,
    repeat,
    run,
    sequence,
    transition,
)
from channel.flow.transport import MemoryTransport
from tests.flow.table import CODEC, Delayed, Flooded, Left, Said, queue_of
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_busy, run_virtual

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


def play(step: Step[Context], *actions: Said | Left) -> list[object]:
    """What a step does that finds these actions on the log."""

    async def story() -> list[object]:
        queue, context = queue_of(MemoryTransport(), preseed=actions), Context()
        await run(step, queue, context)
        return context.done

    return run_virtual(story())


def test_what_we_do_comes_back_to_us() -> None:
    assert play(sequence(local(say), transition(note))) == [Said("alice", 0)]


def test_functions_may_wait_or_not() -> None:
    def at_once(_: Queue, context: Context) -> None:
        context.done.append("local")

    async def later(action: Said | Left, context: Context) -> None:
        await asyncio.sleep(HOUR)
        context.done.append(action)

    assert play(sequence(local(at_once), transition(later)), Left("bob")) == ["local", Left("bob")]


def test_the_context_is_whatever_the_game_likes() -> None:
    async def story() -> None:
        heard: dict[str, int] = {}

        def hear(said: Said, context: dict[str, int]) -> None:
            context[said.client_id] = said.number

        await run(transition(hear), queue_of(MemoryTransport(), preseed=[Said("bob", 5)]), heard)
        assert heard == {"bob": 5}

    run_virtual(story())


def test_a_step_is_repeated() -> None:
    said = [Said("alice", number) for number in range(3)]
    assert play(repeat(transition(note), 3), *said) == said
    assert play(repeat(transition(note), 0)) == []
    with pytest.raises(InvalidValue):
        repeat(transition(note), -1)


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
    with pytest.raises(UnexpectedAction) as refused:
        play(transition(note, expects=Said), Left("bob"))
    assert refused.value == UnexpectedAction("bob", ("Said",), Left("bob"))


def test_a_transition_names_whose_action_it_expects() -> None:
    assert play(transition(note, sender="bob"), Left("bob")) == [Left("bob")]
    assert play(transition(note, sender=("alice", "bob")), Left("bob")) == [Left("bob")]
    assert play(transition(note, sender=lambda context: context.name), Left("alice")) == [Left("alice")]
    with pytest.raises(UnexpectedSender) as refused:
        play(transition(note, sender="bob"), Left("mallory"))
    assert refused.value == UnexpectedSender("mallory", ("bob",), Left("mallory"))


def test_what_was_not_expected_is_not_handed_on() -> None:
    async def story() -> None:
        for step in (transition(note, expects=Said), transition(note, sender="bob")):
            context = Context()
            with pytest.raises((UnexpectedAction, UnexpectedSender)):
                await run(step, queue_of(MemoryTransport(), preseed=[Left("mallory")]), context)
            assert context.done == []

    run_virtual(story())


def test_a_silent_client_does_not_hang_us() -> None:
    with pytest.raises(NothingHeard) as nothing:
        play(transition(note, sender="bob", within=HOUR))
    assert nothing.value == NothingHeard(("bob",), HOUR)
    with pytest.raises(NothingHeard):
        play(choice({Said: transition(note)}, within=HOUR))


def test_who_shouts_all_the_time_does_not_stop_the_clock() -> None:
    async def story() -> None:
        queue = ActionQueue(Flooded(), CODEC, skip=lambda _: None)
        with pytest.raises(NothingHeard):
            await run(transition(note, within=1), queue, Context())

    run_busy(story())


def test_what_comes_in_time_is_taken() -> None:
    async def story() -> None:
        queue, context = queue_of(MemoryTransport()), Context()

        async def bob() -> None:
            await asyncio.sleep(HOUR - 1)
            await queue.enqueue(Left("bob"))

        async with asyncio.TaskGroup() as group:
            group.create_task(bob())
            await run(transition(note, within=HOUR), queue, context)
        assert context.done == [Left("bob")]

    run_virtual(story())


def test_a_deadline_that_has_passed_loses_nothing_that_comes_later() -> None:
    async def story() -> None:
        queue, context = queue_of(MemoryTransport()), Context()
        with pytest.raises(NothingHeard):
            await run(transition(note, within=1), queue, context)
        await queue.enqueue(Left("bob"))
        await run(transition(note, within=1), queue, context)
        assert context.done == [Left("bob")]

    run_virtual(story())


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
    with pytest.raises(UnexpectedAction) as refused:
        play(choice({Said: transition(note)}), Left("bob"))
    assert refused.value == UnexpectedAction("bob", ("Said",), Left("bob"))
    with pytest.raises(UnexpectedSender):
        play(choice({Left: transition(note)}, sender="alice"), Left("bob"))


def test_an_error_of_the_game_ends_the_flow_and_the_rest_is_not_done() -> None:
    def fail(_action: Said | Left, _context: Context) -> None:
        raise ZeroDivisionError

    async def story() -> None:
        queue, context = queue_of(MemoryTransport(), preseed=[Left("bob"), Left("bob")]), Context()
        with pytest.raises(ZeroDivisionError):
            await run(sequence(transition(fail), transition(note)), queue, context)
        assert context.done == []
        assert await queue.dequeue() == Left("bob")

    run_virtual(story())


def test_a_flow_can_be_cancelled_wherever_it_waits() -> None:
    """It leaves no task behind, and no action half taken."""

    async def story(number: int) -> bool:
        log = Delayed(MemoryTransport(), Random(number))
        context = Context()
        flow = repeat(sequence(local(say), transition(note, within=HOUR)), 3)
        cancelled = await cancelled_at(number, run(flow, queue_of(log), context))
        assert context.done == [Said("alice", number) for number in range(len(context.done))]
        assert len(context.done) <= log.length()
        return cancelled

    assert at_every_wait(story) > 6
