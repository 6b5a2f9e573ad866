"""Channels played in steps, on a chain: whole games, and what a silent or late counterparty makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest

from forcemove import ActionQueue, Game, MalformedBytes, Phase, UnknownVersion, VariablePart, exchange_keys
from forcemove.flow.actions import MalformedAction
from forcemove.flow.channel import (
    UPDATES,
    ChannelDecided,
    Line,
    Seat,
    Update,
    collecting,
    concluding,
    funding,
    moves_of,
    opening,
    playing,
    prefunding,
    rounds,
    turn,
)
from forcemove.flow.signed import LogsDiffer
from forcemove.flow.steps import ActionMissing, Step, repeat, run, sequence
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove.node.events import CounterpartyFault
from forcemove.protocol.codec.wire import encode_message
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from forcemove_games.tic_tac_toe.flow import one_round as tic_tac_toe_round
from tests.flow.table import Flooded
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_busy, run_virtual
from tests.installed import GAMES_FOR_TWO, part_of
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, Playground, Story

NAMES = ("alice", "bob")
TICK = 60.0
_LONG = 5.0 * DURATION
"""What takes longer never ends."""


def fail(on_error: Exception) -> None:
    """What a test has not foreseen ends its flow, assertions in what it has made among it."""
    raise on_error


def seats_of(story: Story) -> list[Seat]:
    """The story's clients, each on a line that a flow drives. Nothing is to fail on the way."""
    seats = []
    for player in story.players:
        line, player.is_silent = Line(), True
        story.start(player, line)
        seats.append(
            Seat(NAMES[player.seat], player.client.managed, line, within=5 * TICK, look_every=TICK, on_error=fail)
        )
    return seats


def queue_of(log: Transport) -> ActionQueue[Update]:
    return ActionQueue(log, UPDATES)


@asynccontextmanager
async def passing_time(story: Story) -> AsyncIterator[None]:
    """The chain's clock goes with the loop's."""
    start = story.chain.now()

    async def clock() -> None:
        while True:
            await asyncio.sleep(TICK)
            if start + asyncio.get_running_loop().time() > story.chain.now():
                story.chain.travel_to(start + int(asyncio.get_running_loop().time()))

    task = asyncio.create_task(clock())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def play(
    story: Story,
    *flows: Callable[[Seat], Awaitable[object]] | Step[Seat],
    log: MemoryTransport | None = None,
    on_error: Callable[[Exception], object] = fail,
) -> list[Seat]:
    """Both seats' flows, or these, side by side on one log."""
    log = log or MemoryTransport()

    async def both() -> list[Seat]:
        seats = seats_of(story)
        for seat in seats:
            seat.on_error = on_error
        async with asyncio.timeout(_LONG), passing_time(story), asyncio.TaskGroup() as group:
            for flow, seat in zip(flows, seats, strict=True):
                group.create_task(run(flow, queue_of(log), seat))  # type: ignore[arg-type]
        return seats

    return run_virtual(both())


def bot_of(story: Story, seat: int) -> Step[Seat]:
    """Opens, plays a few rounds, and concludes."""
    player = story.players[seat]
    return sequence(opening(), rounds(player.bot, another=lambda state: state.turn_num < 16), concluding())


@pytest.mark.parametrize("game", GAMES_FOR_TWO, ids=[game.name for game in GAMES_FOR_TWO])
def test_a_whole_game_reads_as_a_sequence_of_steps(playground: Playground, game: Game) -> None:
    one_round, story = part_of(game, "flow").one_round, playground.story(game)
    flows = [
        sequence(opening(), repeat(one_round(player.bot), 2), concluding())  # a sequence of steps
        for player in story.players
    ]
    play(story, *flows)
    story.ends_with(story.players[0].newest.state.outcome)
    assert story.players[0].newest.state.is_final
    assert "SubmitChallenge" not in story.alice.mined + story.bob.mined


def test_a_game_goes_on_until_somebody_leaves(story: Story) -> None:
    play(story, bot_of(story, 0), bot_of(story, 1))
    story.ends_with(story.players[0].newest.state.outcome)


def test_a_game_on_a_signed_transport_after_a_key_exchange(channel: Story) -> None:
    """The table's id is the channel's, and the expected addresses are its participants'."""
    log = MemoryTransport()
    seats = play_signed(channel, log, log)
    channel.ends_with(channel.players[0].newest.state.outcome)
    assert not any(seat.faults for seat in seats)


def play_signed(story: Story, *logs: Transport) -> list[Seat]:
    """Both seats' whole games, each on its own view of a log, after an exchange of keys."""

    async def join(log: Transport, seat: Seat, index: int) -> None:
        agreement = story.agreement
        expected = agreement.fixed_part.participants
        table = await exchange_keys(log, agreement.channel_id, seat.client_id, KEYS[index], expected, within=TICK)
        await run(bot_of(story, index), queue_of(table.transport), seat)

    async def both() -> list[Seat]:
        seats = seats_of(story)
        async with asyncio.timeout(_LONG), passing_time(story), asyncio.TaskGroup() as group:
            for index, (seat, log) in enumerate(zip(seats, logs, strict=True)):
                group.create_task(join(log, seat, index))
        return seats

    return run_virtual(both())


class Forked(MemoryTransport):
    """One of two views of a log: what is posted to either is in both, until one of them is shown something else."""

    def __init__(self, fork_at: int | None = None) -> None:
        super().__init__()
        self._fork_at, self.other = fork_at, self

    async def post(self, message: bytes) -> None:
        if self._fork_at is not None and self.length() >= self._fork_at:
            self._fork_at = None
            await super().post(b"what the other is not told")
        for log in (self, self.other):
            await MemoryTransport.post(log, message)


@pytest.mark.parametrize("fork_at", [6, 7, 10])
def test_threat_25_a_log_that_is_told_differently_costs_a_channel_time_only(channel: Story, fork_at: int) -> None:
    """Once both have paid in. Neither believes the other's actions any more; the chain carries the rest."""
    alices, bobs = Forked(fork_at), Forked()
    alices.other, bobs.other = bobs, alices
    alice, bob = play_signed(channel, alices, bobs)
    assert any(isinstance(fault, LogsDiffer) and fault.client_id == "alice" for fault in bob.faults)
    assert any(isinstance(fault, LogsDiffer) and fault.client_id == "bob" for fault in alice.faults)
    channel.ends_with(channel.players[0].newest.state.outcome)


def test_a_missed_deadline_becomes_a_challenge_a_late_reply_an_answer_and_play_goes_on(story: Story) -> None:
    """Stall, challenge, respond, continue, conclude."""
    seen: list[tuple[int, bool]] = []

    async def late(queue: ActionQueue[Update], seat: Seat) -> None:
        """Bob plays, keeps silent for half the time that a challenge leaves him, and plays on."""
        bob = moves_of(story.bob.bot, another_round=lambda state: state.turn_num < 16)
        await run(sequence(opening(), turn(bob), turn(bob), turn(bob)), queue, seat)
        await asyncio.sleep(DURATION / 2)
        seen.append(story.record)
        await run(sequence(turn(bob), turn(bob)), queue, seat)
        seen.append(story.record)
        await run(sequence(playing(bob, until=lambda _: False), concluding()), queue, seat)

    play(story, bot_of(story, 0), late)
    assert seen[0][1]
    assert not seen[1][1]
    assert seen[1][0] > seen[0][0]
    assert "SubmitChallenge" in story.alice.mined
    assert "SubmitRespond" in story.bob.mined
    story.ends_with(story.players[0].newest.state.outcome)


def test_who_stays_silent_for_ever_loses_what_the_challenged_state_says(story: Story) -> None:
    decided: list[ChannelDecided] = []
    challenged: list[VariablePart] = []

    async def persistent(queue: ActionQueue[Update], seat: Seat) -> None:
        try:
            await run(bot_of(story, 0), queue, seat)
        except ChannelDecided as error:
            decided.append(error)
            challenged.append(story.alice.newest.state)
            await run(collecting(), queue, seat)

    async def silent(queue: ActionQueue[Update], seat: Seat) -> None:
        await run(sequence(opening(), turn(moves_of(story.bob.bot))), queue, seat)

    play(story, persistent, silent)
    story.players[1].client.poll()
    assert [each.turn_num for each in decided] == [challenged[0].turn_num]
    assert story.alice.mined[-2:] == ["SubmitChallenge", "SubmitTransfer"]
    story.ends_with(challenged[0].outcome)


def test_nobody_deposits_where_the_other_never_agrees(channel: Story) -> None:
    async def alone() -> None:
        seat = seats_of(channel)[0]
        with pytest.raises(ActionMissing) as nothing:
            await run(opening(), queue_of(MemoryTransport()), seat)
        assert nothing.value.seconds == seat.within

    run_virtual(alone())
    assert channel.alice.mined == []


def test_a_deposit_comes_back_where_the_other_never_deposits(channel: Story) -> None:
    async def patient(queue: ActionQueue[Update], seat: Seat) -> None:
        with pytest.raises(ChannelDecided):
            await run(opening(), queue, seat)
        await run(collecting(), queue, seat)

    async def agree(queue: ActionQueue[Update], seat: Seat) -> None:
        signed = channel.sign(channel.agreement.setup_state(1), 1)
        message = msgspec.Raw(encode_message(channel.agreement.channel_id, signed))
        await queue.enqueue(Update(seat.client_id, message))

    play(channel, patient, agree)
    assert channel.alice.mined == ["SubmitDeposit", "SubmitChallenge", "SubmitTransfer"]
    assert channel.gains == [0, 0]
    assert channel.held == 0


def test_who_leaves_and_gets_no_signature_is_paid_all_the_same(channel: Story) -> None:
    """Bob never signs the final state: the chain is asked with it."""

    async def leave(queue: ActionQueue[Update], seat: Seat) -> None:
        alice = moves_of(channel.alice.bot)
        await run(sequence(opening(), turn(alice), turn(alice), concluding()), queue, seat)

    async def vanish(queue: ActionQueue[Update], seat: Seat) -> None:
        bob = moves_of(channel.bob.bot)
        await run(sequence(opening(), turn(bob), turn(bob)), queue, seat)

    play(channel, leave, vanish)
    channel.players[1].client.poll()
    channel.ends_with(channel.alice.newest.state.outcome)


def test_a_player_who_wins_nothing_can_still_take_its_deposit_home(channel: Story) -> None:
    play(channel, *(sequence(opening(), concluding()) for _ in range(2)))
    assert channel.gains == [0, 0]
    channel.ends_with(channel.agreement.outcome)
    assert channel.alice.newest.state.outcome[0].amount == DEPOSIT


def test_rubbish_on_the_log_is_the_counterpartys_fault_and_play_goes_on(channel: Story) -> None:
    log, forged = MemoryTransport(), channel.sign(channel.agreement.setup_state(1), 1)

    async def loud(queue: ActionQueue[Update], seat: Seat) -> None:
        await run(opening(), queue, seat)
        await log.post(b"no action")
        await log.post(b'{"client_id":"bob","type":"Shout"}')
        for message in (
            b'"no message"',
            b"0",
            b"{}",
            encode_message(channel.agreement.channel_id, forged).replace(b":1}", b":2}"),
        ):
            await queue.enqueue(Update("bob", msgspec.Raw(message)))
        await run(sequence(rounds(channel.bob.bot, another=lambda _: False), concluding()), queue, seat)

    alice, _ = play(channel, bot_of(channel, 0), loud, log=log)
    faults = [event.error for event in channel.alice.events if isinstance(event, CounterpartyFault)]
    assert [type(each) for each in faults] == [MalformedBytes] * 3 + [UnknownVersion]
    assert [type(each) for each in alice.faults] == [MalformedAction] * 2
    channel.ends_with(channel.alice.newest.state.outcome)


def test_who_shouts_all_the_time_does_not_keep_us_from_the_chain(channel: Story) -> None:
    alice, _ = play(channel, prefunding(), prefunding())
    alice.within, alice.look_every = 1.0, 0.1

    async def story() -> None:
        funded = asyncio.create_task(run(funding(), queue_of(Flooded()), alice))
        while not (channel.record[1] or funded.done()):
            await asyncio.sleep(0)
        funded.cancel()
        await asyncio.wait([funded])
        assert funded.cancelled()

    run_busy(story())
    assert channel.alice.mined == ["SubmitDeposit", "SubmitChallenge"]


class Yielding(MemoryTransport):
    """A log on which posting takes a moment more when the message is there."""

    async def post(self, message: bytes) -> None:
        await super().post(message)
        await asyncio.sleep(0)


def test_a_flow_can_be_cancelled_wherever_it_waits_and_run_again(playground: Playground) -> None:
    """It leaves no task and no half-made state: a new flow over the same client plays the game to its end."""

    async def story(number: int) -> bool:
        channel, log = playground.story(TIC_TAC_TOE), Yielding()
        seats = seats_of(channel)
        alice, bob = (sequence(opening(), tic_tac_toe_round(player.bot), concluding()) for player in channel.players)
        async with passing_time(channel), asyncio.TaskGroup() as group:
            group.create_task(run(bob, queue_of(log), seats[1]))
            cancelled = await cancelled_at(number, run(alice, queue_of(log), seats[0]))
            if channel.alice.phase is not Phase.CLOSED:
                await run(bot_of(channel, 0), queue_of(log), seats[0])
        channel.ends_with(channel.alice.newest.state.outcome)
        return cancelled

    assert at_every_wait(story) > 12


def test_a_dispute_survives_a_flow_that_is_cancelled_again_and_again(story: Story) -> None:
    """Alice's flow is cut off at its first wait, then at its second, and so on, while bob stalls and answers late."""
    cuts = 0

    async def impatient(queue: ActionQueue[Update], seat: Seat) -> None:
        nonlocal cuts
        while await cancelled_at(cuts + 1, run(bot_of(story, 0), queue, seat)):
            cuts += 1

    async def late(queue: ActionQueue[Update], seat: Seat) -> None:
        bob = moves_of(story.bob.bot, another_round=lambda state: state.turn_num < 16)
        await run(sequence(opening(), turn(bob), turn(bob), turn(bob)), queue, seat)
        while not story.record[1]:
            await asyncio.sleep(TICK)
        await asyncio.sleep(8 * TICK)
        await run(sequence(rounds(story.bob.bot, another=lambda state: state.turn_num < 16), concluding()), queue, seat)

    play(story, impatient, late)
    assert cuts > 3
    assert "SubmitChallenge" in story.alice.mined
    story.ends_with(story.players[0].newest.state.outcome)
