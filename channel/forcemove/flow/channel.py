"""A channel played in steps: opening, turns, concluding. Each step ends when the channel is where it should be.

The channel itself is run by a participant's client, which guards the money by itself: it signs no turn twice, answers
challenges and collects whatever a flow says. A flow gives the client its moves and wishes, carries its messages over
the table's log as `Update` actions, and waits. A missed deadline becomes a challenge, a late reply during the challenge
an answer, and play goes on.

An error of a transport, an endpoint or a player ends no flow, see `flow.seat`. Knows no chain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from forcemove.errors import LocalError
from forcemove.flow.queue import ActionQueue
from forcemove.flow.seat import UPDATES, Line, Participant, Seat, Update, drive, feed, receive_next, wait_and_drive
from forcemove.flow.steps import ActionMissing, Step
from forcemove.protocol.machine.channel import OVER, Channel, Phase
from forcemove.protocol.machine.effects import ChooseMove
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.types import Outcome, VariablePart

__all__ = [
    "UPDATES",
    "ChannelDecided",
    "Choose",
    "ConcludeWanted",
    "Line",
    "MoveChosen",
    "Participant",
    "Player",
    "Seat",
    "Update",
    "collecting",
    "concluding",
    "funding",
    "is_stuck",
    "moves_of",
    "moves_of_new",
    "opening",
    "playing",
    "prefunding",
    "rounds",
    "turn",
]

Choose = Callable[[ChooseMove], MoveChosen | ConcludeWanted]
"""What we do after a state when it is our turn."""


class Player(Protocol):
    """Decides on moves: a bot, or a person's screen."""

    def move(
        self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()
    ) -> tuple[Outcome, bytes, bytes] | None:
        """The outcome, appData and evidence of the state after `state`, or None to conclude; see
        `forcemove.game.Bot.move`."""
        ...

    def secrets(self) -> bytes:
        """What another player must be given to go on in this one's place; empty where nothing is needed."""
        ...


class ChannelDecided(LocalError):
    """The chain has decided the channel while we were playing: somebody's time has run out, or it was concluded.
    `collecting` brings the money home."""

    turn_num: int


# -------------------------------------------------------------------------------------------------------------- steps


def opening() -> Step[Seat]:
    """From nothing to the first move: agree on the opening, deposit, and confirm that every deposit is there."""

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        await prefunding()(queue, seat)
        await funding()(queue, seat)

    return step


def prefunding() -> Step[Seat]:
    """All sign the prefund states. Raises `ActionMissing` where a participant does not: nobody has deposited yet."""

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        phases = (Phase.CHECKING, Phase.PREFUND)
        if not await _reached(queue, seat, lambda: seat.participant.phase not in phases):
            raise ActionMissing((), seat.within)

    return step


def funding() -> Step[Seat]:
    """All deposit and sign the postfund states. Where a participant does not, the chain gives the deposits back, and
    `ChannelDecided` is raised."""

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        await _reached_or_decided(queue, seat, lambda: _holds(_is_open(seat), seat.participant.channel))

    return step


def turn(choose: Choose) -> Step[Seat]:
    """The channel's next turn: `choose` makes our move; a counterparty's move is waited for, on the chain if need be.
    After a final state there is no turn, and the step does nothing. If `choose` raises an error, it is asked again
    after `look_every` seconds.

    Raises `ChannelDecided` where the channel is over instead, and what is wrong with a move that `choose` has made.
    """

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        turn_num = seat.next_turn
        is_done = _any(lambda: seat.next_turn > turn_num, lambda: _is_ending(seat))
        await drive(queue, seat)
        while _is_to_move(seat) and not is_done() and not _has_moved(seat, choose):
            await wait_and_drive(queue, seat)
        await _reached_or_decided(queue, seat, is_done)

    return step


def playing(choose: Choose, *, until: Callable[[VariablePart], bool]) -> Step[Seat]:
    """Take turns until `until` holds of the newest state, or that state is final."""

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        one = turn(choose)
        while (newest := seat.participant.channel.newest) is None or not (newest.state.is_final or until(newest.state)):
            await one(queue, seat)

    return step


def concluding() -> Step[Seat]:
    """Sign a final state with our next turn, and wait until the channel has paid all that it holds.

    A counterparty that does not answer is challenged; then the chain decides.
    """

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        while not _is_over(seat) and not feed(seat, ConcludeWanted()):
            await wait_and_drive(queue, seat)
        await collecting()(queue, seat)

    return step


def collecting() -> Step[Seat]:
    """Wait until the channel has paid all that it holds; a counterparty that keeps us waiting is challenged."""

    async def step(queue: ActionQueue[Any], seat: Seat) -> None:
        while not await _reached(queue, seat, lambda: _is_paid_out(seat)):
            _challenge_if_it_helps(seat)

    return step


# ------------------------------------------------------------------------------------------------------------ players


def _always(_: VariablePart) -> bool:
    return True


def moves_of(player: Player, *, another_round: Callable[[VariablePart], bool] = _always) -> Choose:
    """A player's answers as steps want them: a move, or the wish to conclude where the player has none."""

    def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted:
        state = question.state
        goes_on = another_round(state) and not question.is_last_round
        move = player.move(state, another_round=goes_on, between=question.between)
        return ConcludeWanted() if move is None else MoveChosen(*move, secrets=player.secrets())

    return choose


def moves_of_new(make: Callable[[bytes], Player], *, another_round: Callable[[VariablePart], bool] = _always) -> Choose:
    """The answers of a player that is made when it is first asked: `make` is given the secrets that an earlier one has
    left in the channel, empty where there are none."""
    made: list[Choose] = []

    def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted:
        if not made:
            made.append(moves_of(make(question.secrets), another_round=another_round))
        return made[0](question)

    return choose


def rounds(player: Player, *, another: Callable[[VariablePart], bool] = _always) -> Step[Seat]:
    """Round after round, while `another` holds between two of them and both can pay, until somebody's final state."""
    return playing(moves_of(player, another_round=another), until=lambda _: False)


# -------------------------------------------------------------------------------------------------------------- moving


def _is_to_move(seat: Seat) -> bool:
    """Whether there is a state for us to answer."""
    channel = seat.participant.channel
    return channel.newest is not None and channel.is_our_turn and not _is_over(seat)


def _has_moved(seat: Seat, choose: Choose) -> bool:
    """Ask for our move, and make it; whether the client took it."""
    channel = seat.participant.channel
    newest = channel.newest
    if newest is None or channel.lacks_money:
        return False
    try:
        chosen = choose(channel.question(newest.state))
    except Exception as error:
        seat.on_error(error)
        return False
    return feed(seat, chosen)


# ------------------------------------------------------------------------------------------------------------ waiting


async def _reached_or_decided(queue: ActionQueue[Any], seat: Seat, is_there: Callable[[], bool]) -> None:
    """Wait until `is_there` holds, with a challenge at every missed deadline. Raises `ChannelDecided`."""
    while not await _reached(queue, seat, lambda: is_there() or _is_over(seat)):
        _challenge_if_it_helps(seat)
    if not is_there():
        raise ChannelDecided(seat.next_turn - 1)


async def _reached(queue: ActionQueue[Any], seat: Seat, is_there: Callable[[], bool]) -> bool:
    """Whether `is_there` holds within the time that a turn may take; progress of the channel starts that time again."""
    while True:
        if not await _in_time(queue, seat, _any(is_there, _moves_on(seat))):
            return False
        if is_there():
            return True


def _moves_on(seat: Seat) -> Callable[[], bool]:
    """Whether there is a new state, or a new deposit."""
    turn_num, holdings = seat.next_turn, seat.participant.channel.holdings
    return lambda: seat.next_turn > turn_num or seat.participant.channel.holdings != holdings


def _any(first: Callable[[], bool], second: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: first() or second()


async def _in_time(queue: ActionQueue[Any], seat: Seat, is_there: Callable[[], bool]) -> bool:
    try:
        async with asyncio.timeout(seat.within) as limit:
            await _until(queue, seat, is_there)
    except TimeoutError:
        if not limit.expired():
            raise
        return await _is_there_at_last(queue, seat, is_there)
    return True


async def _is_there_at_last(queue: ActionQueue[Any], seat: Seat, is_there: Callable[[], bool]) -> bool:
    """Read the messages that are there already, so that our own slowness is not taken for the counterparty's. The
    reading is short, because a counterparty may never stop sending."""
    clock = asyncio.get_running_loop()
    end = clock.time() + seat.look_every
    while clock.time() <= end and await receive_next(queue, seat, 0):
        pass
    await drive(queue, seat)
    return is_there()


async def _until(queue: ActionQueue[Any], seat: Seat, is_there: Callable[[], bool]) -> None:
    while True:
        await drive(queue, seat)
        if is_there():
            return
        await receive_next(queue, seat, seat.look_every)
        await asyncio.sleep(0)  # a flood of messages must not keep our time from passing


def _holds(condition: Callable[[VariablePart], bool], channel: Channel) -> bool:
    return channel.newest is not None and condition(channel.newest.state)


def _is_open(seat: Seat) -> Callable[[VariablePart], bool]:
    """Whether all have confirmed the deposits; a final state before that has ended the opening."""
    last = 2 * seat.participant.channel.agreement.count - 1
    return lambda newest: newest.turn_num > last or (newest.turn_num == last and not newest.is_final)


def _is_ending(seat: Seat) -> bool:
    """Whether the newest state is a final one."""
    return _holds(lambda state: state.is_final, seat.participant.channel)


def _is_over(seat: Seat) -> bool:
    return seat.participant.phase in OVER


def _is_paid_out(seat: Seat) -> bool:
    """Closed; or decided with empty holdings: a deposit that was never made cannot be paid."""
    channel, phase = seat.participant.channel, seat.participant.phase
    return phase is Phase.CLOSED or (phase is Phase.FINALIZED and not any(held for _, held in channel.holdings))


def _challenge_if_it_helps(seat: Seat) -> None:
    """Challenge where it is another participant's turn."""
    if is_stuck(seat.participant.channel, seat.participant.phase):
        feed(seat, ChallengeWanted())


def is_stuck(channel: Channel, phase: Phase) -> bool:
    """Whether a challenge helps where others stay silent. While one runs already its clock does the work. On our own
    turn it helps where we sign nothing: money is missing, or the newest state is none that we can go on from."""
    can_move = channel.may_sign_next and not channel.lacks_money
    is_theirs = phase is Phase.CONCLUDING or (phase is Phase.PLAYING and not can_move)
    return is_theirs or (phase is Phase.FUNDING and bool(channel.holdings))
