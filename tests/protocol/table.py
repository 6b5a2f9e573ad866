"""A table in memory: machines joined by a line, with the pure model of the adjudicator as their chain.

Nothing waits here: time is a number, messages lie in inboxes until somebody looks, and transactions are mined at once.
Every signature that leaves a machine is looked at: two different states of one turn end the test. A seat can be killed
at any point of its work; it then goes on from what it had saved.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from forcemove import ETHER, Agreement, App, Channel, Key, Phase, Terms, address_destination, agree, word
from forcemove.errors import ChainError, ForcemoveError, LocalError, RuleError
from forcemove.protocol import adjudication, errors, logs
from forcemove.protocol.codec.wire import decode_message, encode_greeting, encode_message
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.effects import (
    ChooseMove,
    Effect,
    SendGreeting,
    SendState,
    Submission,
    SubmitChallenge,
    SubmitDeposit,
)
from forcemove.protocol.machine.machine import step
from forcemove.protocol.types import SignedState, VariablePart
from tests.protocol import builders
from tests.protocol.builders import DOMAIN, CountingRules, fixed_part, players
from tests.protocol.operations import ether_with, perform

Chooser = Callable[[ChooseMove], inputs.MoveChosen | inputs.ConcludeWanted | None]

START = 1_000_000
"""The block time at which every table begins."""
DURATION = 3_600
STAKE = 10
DEPOSIT = 50


class CountingGame(CountingRules):
    """The counting app as something to play: it begins with the number of the last setup turn."""

    name = "counting"

    def __init__(self, count: int = 2) -> None:
        self.count = count

    def initial_app_data(self, terms: Terms) -> bytes:
        return word(2 * self.count - 1)

    def stake_of(self, app_data: bytes) -> int:
        return 0

    def move(self, state: VariablePart) -> inputs.MoveChosen:
        """The only one that there is; the outcome stays."""
        return inputs.MoveChosen(state.outcome, word(int.from_bytes(state.app_data, "big") + 1))


def agreement_for(app: App, count: int = 2, deposit: int = DEPOSIT, nonce: int = 0) -> Agreement:
    keys = players(count)
    destinations = tuple(address_destination(key.address) for key in keys)
    fixed = fixed_part(keys, nonce, duration=DURATION)
    return agree(DOMAIN, fixed, app, STAKE, ((ETHER, (deposit,) * count),), destinations)


class KilledError(Exception):
    """The process of a seat has ended; what it had not saved is gone."""


@dataclass
class Seat:
    """A participant: its machine and all that it remembers, in `channel`; the rest dies with it."""

    table: Table
    key: Key
    channel: Channel
    choose: Chooser
    inbox: deque[bytes] = field(default_factory=deque)
    signed: dict[int, VariablePart] = field(default_factory=dict)
    asked: list[ChooseMove] = field(default_factory=list)
    submitted: list[Submission] = field(default_factory=list)
    faults: list[errors.MessageRefused] = field(default_factory=list)
    failed: list[Submission] = field(default_factory=list)
    seen: int = -1
    points: int = 0
    killed_at: Collection[int] = ()
    deaths: int = 0
    greeted_at: tuple[int, int] | None = None
    is_away: bool = False

    @property
    def index(self) -> int:
        return self.channel.index

    @property
    def phase(self) -> Phase:
        return self.channel.phase(self.table.now)

    @property
    def newest(self) -> SignedState:
        assert self.channel.newest is not None
        return self.channel.newest.signed

    # ------------------------------------------------------------------------------------------------------- working

    def poll(self) -> bool:
        """What a client does when it looks around. Returns whether anything has changed."""
        before = self.channel
        if self.is_away:
            return False
        try:
            self._look_around()
        except KilledError:
            self.restart()
            return True
        return self.channel != before

    def _look_around(self) -> None:
        self.read_chain()
        if not self.channel.genuine:
            self.feed(inputs.ContractsGenuine())
        while self.inbox:
            self.take(self.inbox.popleft())
        self.feed(inputs.Tick())

    def read_chain(self) -> None:
        from_scratch, first, last = self.seen < 0, max(self.seen, 0), len(self.table.logs)
        if from_scratch or first < last or self.failed:
            failed = [inputs.SubmissionFailed(submission) for submission in self.failed]
            seen = [inputs.LogSeen(log) for log in self.table.logs[first:last]]
            self.failed, self.seen = [], last
            self.feed(inputs.ChainUpdate((*failed, *seen, inputs.HoldingsSeen(ETHER, self.table.held)), from_scratch))
        if from_scratch:
            self.feed(inputs.Reconnected())

    def take(self, message: bytes) -> None:
        """A message, as from a wire."""
        channel_id, said = decode_message(message)
        assert channel_id == self.channel.agreement.channel_id
        self._receive(said)

    def receive(self, signed: SignedState) -> None:
        """A state, from any sender, to a process that may die of it."""
        try:
            self._receive(inputs.StateReceived(signed))
        except KilledError:
            self.restart()

    def _receive(self, said: inputs.StateReceived | inputs.Greeted) -> None:
        """A fault leaves the channel as it was."""
        before = self.channel
        try:
            self.feed(said)
        except errors.MessageRefused as error:
            self.faults.append(error)
            assert self.channel is before

    def feed(self, input_: inputs.Input) -> None:
        channel, effects = step(self.channel, input_, self.table.now, self.key, self.table.app)
        self._point()
        self.channel = channel  # saved
        waiting = deque(effects)
        while waiting:
            self._point()
            decided = self._perform(waiting.popleft())
            if decided is not None:
                channel, more = step(self.channel, decided, self.table.now, self.key, self.table.app)
                self._point()
                self.channel = channel
                waiting.extend(more)

    def try_to(self, input_: inputs.Input) -> LocalError | RuleError | None:
        """What the machine has against it."""
        before = self.channel
        try:
            self.feed(input_)
        except (LocalError, RuleError) as error:
            assert self.channel is before
            return error
        except KilledError:
            self.restart()
        return None

    def next_move(self, amount: int | None = None) -> inputs.MoveChosen:
        """The counting app's next move; with an amount, one that gives Alice this much of both deposits."""
        outcome = self.newest.state.outcome
        if amount is not None:
            outcome = (replace(outcome[0], amount=amount), replace(outcome[1], amount=2 * DEPOSIT - amount))
        return inputs.MoveChosen(outcome, word(self.channel.next_turn))

    def next_state(self, amount: int | None = None) -> VariablePart:
        """The state that this move makes, by any mover."""
        move = self.next_move(amount)
        return VariablePart(move.outcome, move.app_data, self.channel.next_turn)

    @property
    def reasons(self) -> list[ForcemoveError]:
        """What was wrong with what it was sent."""
        return [fault.reason for fault in self.faults]

    # ----------------------------------------------------------------------------------------------------- life, death

    def _point(self) -> None:
        """A point at which the process may end."""
        self.points += 1
        if self.points in self.killed_at:
            self.deaths += 1
            raise KilledError

    def restart(self) -> None:
        """Begin again from what was saved, with nothing else in mind; messages in the inbox are lost."""
        self.inbox.clear()
        self.failed.clear()
        self.seen, self.greeted_at = -1, None

    # --------------------------------------------------------------------------------------------------------- effects

    def _perform(self, effect: Effect) -> inputs.Input | None:
        match effect:
            case SendState(signed):
                self.remember_signature(signed)
                self.table.send(self, encode_message(self.channel.agreement.channel_id, signed))
            case SendGreeting():
                self._greet(effect)
            case ChooseMove():
                self.asked.append(effect)
                return self.choose(effect)
            case _:
                self._submit(effect)
        return None

    def _greet(self, greeting: SendGreeting) -> None:
        """Once a second, like any client; here seconds pass when nothing else happens."""
        second = (self.table.now, self.table.silences)
        if self.greeted_at != second:
            self.greeted_at = second
            channel_id = self.channel.agreement.channel_id
            self.table.send(self, encode_greeting(channel_id, self.index, greeting.next_turn))

    def remember_signature(self, signed: SignedState) -> None:
        if self.index in signed.signatures:
            first = self.signed.setdefault(signed.state.turn_num, signed.state)
            assert first == signed.state, f"two states of turn {signed.state.turn_num} are signed"

    def _submit(self, submission: Submission) -> None:
        self.submitted.append(submission)
        try:
            self.table.transact(self.key, submission)
        except ForcemoveError:
            self.failed.append(submission)


class Table:
    """Participants 0 to n - 1 of one channel, their line and their chain."""

    def __init__(
        self, app: App, choosers: Sequence[Chooser], *, deposit: int = DEPOSIT, killed_at: Collection[int] = ()
    ):
        """`killed_at`: at which points of its work the first participant is killed."""
        self.app = app
        self.agreement = agreement_for(app, len(choosers), deposit)
        self.now = START
        self.chain = adjudication.Adjudication(DOMAIN)
        self.logs: list[logs.Log] = []
        self.balances: Counter[bytes] = Counter()
        self.payouts: Counter[bytes] = Counter()
        self.refused: list[ForcemoveError] = []
        self.messages: list[bytes] = []
        self.is_down = False
        self.silences = 0
        keys = players(len(choosers))
        self.seats = tuple(
            Seat(self, key, Channel(self.agreement, index), choose)
            for index, (key, choose) in enumerate(zip(keys, choosers, strict=True))
        )
        self.seats[0].killed_at = killed_at

    @property
    def record(self) -> tuple[int, bool]:
        """The recorded turn, and whether a clock runs."""
        status = self.chain.status_of(self.agreement.channel_id)
        return status.turn_num_record, status.finalizes_at != 0

    def challenge(self, *states: VariablePart, by: int = 1) -> None:
        """Straight to the chain, with what everybody has signed."""
        keys = players(self.agreement.count)
        proof = builders.proof(*states, keys=keys, fixed=self.agreement.fixed_part)
        self.transact(keys[by], SubmitChallenge(proof))

    def setup_states(self) -> list[VariablePart]:
        return [self.agreement.setup_state(turn) for turn in range(2 * self.agreement.count)]

    @property
    def held(self) -> int:
        return self.chain.holdings_of(self.agreement.channel_id, ETHER).amount

    def run(self, seats: Iterable[Seat] | None = None, rounds: int = 200) -> None:
        """Until nobody has anything to do any more, and greetings after a silence change nothing."""
        chosen = tuple(self.seats if seats is None else seats)
        at_rest: list[Channel] = []
        for _ in range(rounds):
            busy = [seat for seat in chosen if seat.poll()]
            if busy or any(seat.inbox for seat in chosen if not seat.is_away):
                continue
            if at_rest == [seat.channel for seat in chosen]:
                return
            at_rest = [seat.channel for seat in chosen]
            self.break_silence(chosen)
        raise AssertionError("they never come to rest")

    def break_silence(self, seats: Iterable[Seat]) -> None:
        self.silences += 1
        for seat in seats:
            if not seat.is_away and seat.channel.waits_for_message(self.now):
                seat.try_to(inputs.Reconnected())

    def send(self, sender: Seat, message: bytes) -> None:
        self.messages.append(message)
        for seat in self.seats:
            if seat is not sender:
                seat.inbox.append(message)

    def travel(self, seconds: int) -> None:
        """Let time pass, and everybody notice."""
        self.now += seconds

    def reorganise(self) -> None:
        """Another chain has won, on which nothing has happened yet."""
        self.chain = adjudication.Adjudication(DOMAIN)
        self.logs.clear()
        self.balances.clear()

    def wait_for_expiry(self) -> None:
        """To the first second at which a challenge can no longer be answered."""
        self.now = self.chain.status_of(self.agreement.channel_id).finalizes_at

    # ------------------------------------------------------------------------------------------------------- the chain

    def transact(self, key: Key, submission: Submission) -> None:
        """Mine what somebody wants; raises what the adjudicator reverts with, and where no node can be reached."""
        if self.is_down:
            raise ChainError
        value = ether_with(submission)
        transaction = adjudication.Transaction(key.address, self.now, value)
        try:
            result = perform(self.chain, transaction, submission, self.agreement, self.app)
        except RuleError as error:
            self.refused.append(error)
            raise
        self.chain = result.adjudication
        self.logs.extend(result.logs)
        self.balances[key.address] -= value
        for payment in result.payments:
            self.balances[payment.to] += payment.amount
            if not isinstance(submission, SubmitDeposit):
                self.payouts[payment.to] += payment.amount

    # ------------------------------------------------------------------------------------------------------ signatures

    def signed(self, state: VariablePart, *seats: int) -> SignedState:
        """The state with the signatures of these seats, whatever their machines think of it."""
        keys = players(self.agreement.count)
        signatures = {seat: builders.sign(keys[seat], state, self.agreement.fixed_part) for seat in seats}
        return SignedState(state, signatures)


def silent(_question: ChooseMove) -> None:
    """Somebody who does not say what he wants."""


def counting(game: CountingGame, last_turn: int = 12) -> Chooser:
    """Counts until somebody has signed this turn, then wants to leave."""

    def choose(question: ChooseMove) -> inputs.MoveChosen | inputs.ConcludeWanted:
        return game.move(question.state) if question.state.turn_num < last_turn else inputs.ConcludeWanted()

    return choose


def playing(bot: object, last_turn: int = 12) -> Chooser:
    """A game's bot, which wants no other round after this turn."""

    def choose(question: ChooseMove) -> inputs.MoveChosen | inputs.ConcludeWanted:
        move = bot.move(question.state, another_round=question.state.turn_num < last_turn)  # type: ignore[attr-defined]
        return inputs.ConcludeWanted() if move is None else inputs.MoveChosen(*move)

    return choose


def seated(table: Table) -> tuple[Table, Seat, Seat]:
    """The table, and the two who sit there."""
    alice, bob = table.seats
    return table, alice, bob


def counting_table(count: int = 2, last_turn: int = 12, killed_at: Collection[int] = ()) -> Table:
    game = CountingGame(count)
    return Table(game, [counting(game, last_turn)] * count, killed_at=killed_at)


def open_table(count: int = 2, until: int | None = None) -> Table:
    """Counting, opened and funded; `until`: everybody has the state of this turn, and nobody says what comes next."""
    table = counting_table(count)
    last = 2 * count - 1 if until is None else until

    def stop(question: ChooseMove) -> inputs.MoveChosen | None:
        assert isinstance(table.app, CountingGame)
        return table.app.move(question.state) if question.state.turn_num < last else None

    for seat in table.seats:
        seat.choose = stop
    table.run()
    assert table.seats[0].newest.state.turn_num == last
    return table


def agreed_table() -> Table:
    """Two who count; the prefund states are signed, and nobody has looked at the chain since. (Alice has paid in.)"""
    table, alice, bob = seated(counting_table())
    for seat in table.seats:
        seat.seen = 0
        seat.feed(inputs.ContractsGenuine())
    bob.take(bob.inbox.popleft())
    alice.take(alice.inbox.popleft())
    assert alice.channel.next_turn == bob.channel.next_turn == 2
    return table
