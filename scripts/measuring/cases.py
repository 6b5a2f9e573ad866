"""What a case of `scripts/measure` is: rows, and a function that measures them. Knows none of the cases.

And a table to measure with: two players of rock-paper-scissors whose channels are joined in memory, without chain,
network and disk.
"""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import accumulate
from typing import Any, TypeVar

from forcemove.chain.local import local_keys
from forcemove.node.effect_executor import MoveChooser
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.codec.wire import decode_message, encode_message
from forcemove.protocol.encoding import Domain
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendState
from forcemove.protocol.machine.inputs import ContractsGenuine, HoldingsSeen, Input, MoveChosen, StateReceived
from forcemove.protocol.machine.machine import step
from forcemove.protocol.types import ETHER, FixedPart, VariablePart, address_destination
from forcemove_games.rock_paper_scissors import GAME

Measured = Mapping[str, float]
"""Values by the names of their rows."""
Measure = TypeVar("Measure", bound=Callable[..., Measured])


@dataclass(frozen=True, slots=True)
class Row:
    """A number that a case yields. `bound`: what it may be at most, or `at_least`; None where nothing is asked."""

    name: str
    unit: str
    meaning: str = ""
    bound: float | None = None
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value is within the bound, if there is one."""
        if self.bound is None:
            return True
        return value >= self.bound if self.at_least else value <= self.bound


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured together. `measure`: its parameters are options of the command. `rows`: those with a bound; what
    the others are, their names say, and last of it the unit. `write`: puts what was measured into a page."""

    measure: Callable[..., Measured]
    rows: Mapping[str, Row]
    write: Callable[[Measured], None] | None = None

    @property
    def sentence(self) -> str:
        """What it is."""
        return " ".join((self.measure.__doc__ or "").partition("\n\n")[0].split())

    @property
    def parameters(self) -> dict[str, Any]:
        """Each with its value where none is given."""
        return {each.name: each.default for each in inspect.signature(self.measure).parameters.values()}

    def row(self, name: str) -> Row:
        """The row of a value."""
        return self.rows.get(name) or Row(name, "/s" if name.endswith("_per_second") else name.rpartition("_")[2])


CASES: dict[str, Case] = {}
"""By name. A module adds its cases when it is imported."""


def case(*rows: Row, write: Callable[[Measured], None] | None = None) -> Callable[[Measure], Measure]:
    """Make a case of a function, with the function's name and docstring."""

    def added(measure: Measure) -> Measure:
        CASES[measure.__name__] = Case(measure, {row.name: row for row in rows}, write)
        return measure

    return added


# ------------------------------------------------------------------------------------------------------------ measuring


def timed(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that an action takes; with `time.process_time`, of this process's CPU."""
    start = clock()
    action()
    return clock() - start


def least(rounds: int, action: Callable[[], object]) -> float:
    """Milliseconds of CPU that an action takes, the least of the rounds: as on a core that nobody else uses."""
    return min(timed(action, time.process_time) for _ in range(rounds)) * 1e3


def medians(rounds: int, measure: Callable[[], Measured]) -> dict[str, float]:
    """The median of each row over the rounds."""
    found = [measure() for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def ratios(
    rounds: int, actions: Mapping[str, Callable[[], object]], compared: Mapping[str, tuple[str, str]]
) -> dict[str, float]:
    """For each row the median of an action's time over another's. In each round every action is timed once: shared
    machines are slower at times."""

    def measure() -> Measured:
        seconds = {name: timed(action) for name, action in actions.items()}
        return {row: seconds[one] / seconds[other] for row, (one, other) in compared.items()}

    return medians(rounds, measure)


def require(is_so: bool, what: str) -> None:
    """End the program where something else would be measured than a row says."""
    if not is_so:
        raise SystemExit(f"{what}: what was measured is worthless")


KEYS = local_keys()[:2]
ADDRESSES = tuple(key.address for key in KEYS)
NOW = 1_800_000_000
_DOMAIN, _APP = Domain(31_337, bytes.fromhex("ad" * 20)), bytes.fromhex("a9" * 20)
OPENED = 3
"""The last turn before the first move."""


def agreement(
    domain: Domain = _DOMAIN, app: bytes = _APP, nonce: int = 1, stake: int = 1, deposit: int = 10**18
) -> Agreement:
    """A channel between both, about which no chain knows.

    - `domain`: its chain and adjudicator.
    - `app`: the address of the game's contract, 20 bytes.
    - `nonce`: tells it from others.
    - `stake`: what a round is played for, in wei.
    - `deposit`: what each pays in, in wei.
    """
    fixed_part = FixedPart(ADDRESSES, nonce, app, 86_400)
    deposits = ((ETHER, (deposit, deposit)),)
    return agree(domain, fixed_part, GAME, stake, deposits, tuple(map(address_destination, ADDRESSES)))


@dataclass
class Bots:
    """The players of any number of channels. They answer no state of turn `until` or later. `ready`: by channel and
    turn, moves that are made without asking a bot."""

    until: int = OPENED
    ready: dict[bytes, dict[int, MoveChosen]] = field(default_factory=dict)

    def chooser(self, seat: int, id_: bytes = b"") -> MoveChooser:
        """One player of one channel."""
        bot = GAME.bot(seat)

        def chosen(question: ChooseMove) -> MoveChosen | None:
            if question.state.turn_num >= self.until:
                return None
            if id_ in self.ready:
                return self.ready[id_][question.state.turn_num + 1]
            move = bot.move(question.state, another_round=True)
            return None if move is None else MoveChosen(*move)

        return chosen


def go_on(channel: Channel, choose: MoveChooser, feed: Callable[[Input], object]) -> None:
    """Make the move that was kept back, if it is this participant's."""
    if channel.newest is not None and channel.is_our_turn:
        move = choose(ChooseMove(channel.newest.state, None))
        if move is not None:
            feed(move)


class Table:
    """The channels of both, opened. `given`: Alice's inputs; `moves`: those of both, by turn."""

    def __init__(self, agreed: Agreement | None = None) -> None:
        self.agreement = agreed or agreement()
        self.channels = [Channel(self.agreement, seat) for seat in (0, 1)]
        self.given, self.moves, self._bots = list[Input](), dict[int, MoveChosen](), Bots()
        self._choosers = [self._bots.chooser(seat) for seat in (0, 1)]
        holdings = HoldingsSeen(ETHER, sum(each.amount for each in self.agreement.outcome))
        for happens in (ContractsGenuine(), holdings):
            for seat in (0, 1):
                self.feed(seat, happens)

    def play(self, until: int) -> None:
        """Let bots play until this turn."""
        self._bots.until = until
        for seat in (0, 1):
            go_on(self.channels[seat], self._choosers[seat], partial(self.feed, seat))

    def feed(self, seat: int, happens: Input) -> None:
        """Give one of the two an input, and both what follows from it."""
        todo: list[tuple[int, Input]] = [(seat, happens)]
        while todo:
            seat, happens = todo.pop(0)
            if seat == 0:
                self.given.append(happens)
            if isinstance(happens, MoveChosen):
                self.moves[self.channels[seat].next_turn] = happens
            self.channels[seat], effects = step(self.channels[seat], happens, NOW, KEYS[seat], GAME)
            todo += [each for effect in effects if (each := self._follow(seat, effect)) is not None]

    def _follow(self, seat: int, effect: Effect) -> tuple[int, Input] | None:
        match effect:
            case SendState(signed):
                return 1 - seat, decode_message(encode_message(self.agreement.channel_id, signed))[1]
            case ChooseMove() if (move := self._choosers[seat](effect)) is not None:
                return seat, move
            case _:
                return None


class LongGame:
    """A game from Alice's side: her channel as it `opened`, all her later inputs, Bob's signed states that she has
    received, and her own states."""

    def __init__(self, turns: int) -> None:
        """Let bots play this many turns each."""
        table = Table()
        self.opened = table.channels[0]
        table.given.clear()
        table.play(OPENED + 2 * turns)
        self.inputs = tuple(table.given)
        self.received = [happens.signed for happens in self.inputs if isinstance(happens, StateReceived)]
        moves = ((turn, move) for turn, move in table.moves.items() if turn % 2 == 0)
        self.states = [VariablePart(move.outcome, move.app_data, turn, evidence=move.evidence) for turn, move in moves]

    def replay(self) -> Channel:
        """Apply every input once."""
        return reduce(_stepped, self.inputs, self.opened)

    def channels(self) -> list[Channel]:
        """Her channel after every input."""
        return list(accumulate(self.inputs, _stepped, initial=self.opened))[1:]


def _stepped(channel: Channel, happens: Input) -> Channel:
    return step(channel, happens, NOW, KEYS[0], GAME)[0]
