"""Whatever Bob, the line, the clock and the power supply do: Alice's machine raises nothing but what it says it raises,
signs one state a turn, and in the end she is paid what the newest state that she has gives her.

Alice is awake: she looks around after everything that happens, and more often than answers take. Bob has his key and
everything that was ever signed at the table.
"""

from __future__ import annotations

from collections import deque
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from forcemove import AppError, Bot, ForcemoveError, Game, InvalidValue, Phase, SignedState, VariablePart
from forcemove.game import Level
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.encoding import fingerprint, outcome_hash
from forcemove.protocol.machine import automatic_actions, effects, inputs, responses
from forcemove.protocol.machine.machine import step
from forcemove.protocol.machine.record import fold_all
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER, Signature
from tests.installed import GAMES_FOR_TWO
from tests.protocol.builders import ALICE, BOB, DOMAIN, MALLORY
from tests.protocol.table import DEPOSIT, DURATION, Table, playing

OVER = (Phase.FINALIZED, Phase.CLOSED)
_MOST_AGAIN = 50
numbers = st.integers(0, 2**16)


class AwakeAlice(RuleBasedStateMachine):
    @initialize(game=st.sampled_from(GAMES_FOR_TWO), seed=numbers, turns=st.sampled_from((0, 9, 18)))
    def begin(self, game: Game, seed: int, turns: int) -> None:
        self.game = game
        bots = [self.game.bot(seat, Random(seed + seat).randbytes, level=Level.EASY) for seat in (0, 1)]
        self.table = Table(self.game, [playing(bot, 40) for bot in bots])
        self.alice, self.bob = self.table.seats
        self.signed: list[SignedState] = []
        self.heard = 0
        self.late: list[list[bytes]] = [[], []]
        self._look()
        self.both_play(turns)

    # ---------------------------------------------------------------------------------------------------- helpers

    def _look(self) -> None:
        """Alice looks around until she has nothing more to do."""
        self.table.run([self.alice])
        for message in self.table.messages[self.heard :]:
            said = decode_message(message)[1]
            if isinstance(said, inputs.StateReceived):
                self.signed.append(said.signed)
        self.heard = len(self.table.messages)

    def _transact(self, submission: effects.Submission) -> None:
        try:
            self.table.transact(BOB, submission)
        except ForcemoveError:
            return
        self._look()

    def _pick(self, number: int) -> SignedState:
        return self.signed[number % len(self.signed)]

    def _pair(self, number: int) -> list[SignedState]:
        """Some state, and one before it."""
        last = self._pick(number)
        before = [each for each in self.signed if each.state.turn_num + 1 == last.state.turn_num]
        return [*(before[number % len(before) :][:1] if before else ()), last]

    def _say(self, state: VariablePart) -> None:
        """Bob signs something and says it."""
        signed = self.table.signed(state, 1)
        self.signed.append(signed)
        self.alice.receive(signed)
        self._look()

    # ------------------------------------------------------------------------------------------------- honest enough

    @rule()
    def bob_plays(self) -> None:
        self.bob.poll()
        self._look()

    @rule(turns=st.integers(2, 12))
    def both_play(self, turns: int) -> None:
        for _ in range(turns):
            self.bob.poll()
            self._look()

    @rule()
    def alice_wants_to_leave(self) -> None:
        self.alice.try_to(inputs.ConcludeWanted())
        self._look()

    @rule()
    def bob_wants_to_leave(self) -> None:
        self.bob.try_to(inputs.ConcludeWanted())

    @rule()
    def alice_challenges(self) -> None:
        self.alice.try_to(inputs.ChallengeWanted())
        self._look()

    @rule(data=st.binary(max_size=300))
    def alice_tries_nonsense(self, data: bytes) -> None:
        assert self.alice.try_to(inputs.MoveChosen(self.table.agreement.outcome, data)) is not None

    # -------------------------------------------------------------------------------------------- line, clock, power

    @rule()
    def messages_are_lost(self) -> None:
        self.alice.inbox.clear()
        self.bob.inbox.clear()

    @rule(number=numbers)
    def messages_are_repeated_and_reordered(self, number: int) -> None:
        for seat in self.table.seats:
            messages = [*seat.inbox, *list(seat.inbox)[:_MOST_AGAIN]]  # all of them would double each time
            Random(number).shuffle(messages)
            seat.inbox = deque(messages)

    @rule(number=numbers)
    def messages_are_delayed(self, number: int) -> None:
        """Some arrive now, and those that were late until now after them."""
        for index, seat in enumerate(self.table.seats):
            chosen = Random(number)
            late = [message for message in seat.inbox if chosen.random() < 0.5]
            on_time = [message for message in seat.inbox if message not in late]
            seat.inbox = deque((*on_time, *self.late[index]))
            self.late[index] = late

    @rule()
    def it_is_silent_for_a_while(self) -> None:
        """Long enough for both to say where they are."""
        self.table.run()
        self._look()

    @rule(number=numbers)
    def a_message_comes_again(self, number: int) -> None:
        self.alice.receive(self._pick(number))
        self._look()

    @rule(seconds=st.integers(1, 2 * DURATION))
    def some_time_passes(self, seconds: int) -> None:
        self.time_passes(seconds)

    def time_passes(self, seconds: int) -> None:
        step = automatic_actions.answer_margin(DURATION) // 2
        for gone in range(0, seconds, step):
            self.table.travel(min(step, seconds - gone))
            self._look()

    @rule(soon=st.integers(1, 6))
    def alice_is_killed(self, soon: int) -> None:
        self.alice.killed_at = (self.alice.points + soon,)

    @rule()
    def the_node_is_down_for_a_moment(self) -> None:
        self.table.is_down = True
        self.bob.poll()
        self.alice.poll()
        self.table.is_down = False
        self._look()

    # -------------------------------------------------------------------------------------------------------- cheats

    @rule(number=numbers, which=numbers)
    def bob_makes_an_illegal_move(self, number: int, which: int) -> None:
        state = self._pick(number).state
        try:
            moves = self.game.illegal_moves(state)
        except (AppError, InvalidValue):
            return  # the state itself is not of the game, or pays what nobody has
        if moves:
            self._say(moves[which % len(moves)][1])

    @rule(number=numbers, amount=st.integers(0, 2 * DEPOSIT), final=st.booleans(), later=st.integers(0, 3))
    def bob_signs_what_he_likes(self, number: int, amount: int, final: bool, later: int) -> None:
        state = self._pick(number).state
        first, second = state.outcome
        outcome = (replace(first, amount=amount), replace(second, amount=2 * DEPOSIT - amount))
        self._say(VariablePart(outcome, b"" if final else state.app_data, state.turn_num + later, final))

    @rule(number=numbers)
    def bob_makes_another_legal_move(self, number: int) -> None:
        """Where he has made one of that turn already, he contradicts himself."""
        state = self._pick(number).state
        if state.turn_num % 2 == 0 and state.turn_num >= 3:
            move = self.game.bot(1, Random(number).randbytes, level=Level.EASY)
            self._say(_next(move, state))

    @rule(number=numbers, junk=st.binary(min_size=64, max_size=64))
    def somebody_forges(self, number: int, junk: bytes) -> None:
        state = replace(self._pick(number).state, turn_num=self.alice.channel.next_turn)
        self.alice.receive(SignedState(state, {state.turn_num % 2: Signature(junk)}))
        self._look()

    @rule(number=numbers)
    def bob_challenges(self, number: int) -> None:
        proof = build_support_proof(self.table.agreement.fixed_part, self._pair(number))
        if proof is not None:
            self._transact(effects.SubmitChallenge(proof))

    @rule(number=numbers)
    def bob_checkpoints(self, number: int) -> None:
        proof = build_support_proof(self.table.agreement.fixed_part, self._pair(number))
        if proof is not None:
            self._transact(effects.SubmitCheckpoint(proof))

    @rule(number=numbers)
    def bob_responds(self, number: int) -> None:
        *before, last = self._pair(number)
        signature = last.signatures.get(last.state.turn_num % 2)
        if before and signature:
            self._transact(effects.SubmitRespond(before[0].state, last.state, signature))

    @rule(number=numbers)
    def bob_concludes(self, number: int) -> None:
        conclude = responses.concluding_answer(self.table.agreement.fixed_part, self._pick(number))
        if conclude is not None:
            self._transact(conclude)

    @rule(amount=st.integers(1, 3 * DEPOSIT))
    def somebody_pays_in(self, amount: int) -> None:
        try:
            self.table.transact(MALLORY, effects.SubmitDeposit(ETHER, 0, amount))
        except ForcemoveError:
            return
        self._look()

    # --------------------------------------------------------------------------------------------------- what holds

    @invariant()
    def nothing_is_paid_that_is_not_held(self) -> None:
        assert sum(self.table.balances.values()) + self.table.held == 0

    @invariant()
    def the_logs_say_what_the_adjudicator_has(self) -> None:
        id_, now = self.table.agreement.channel_id, self.table.now
        status, holdings = self.table.chain.status_of(id_), self.table.chain.holdings_of(id_, ETHER)
        record = fold_all(self.table.logs, DOMAIN, now)
        assert replace(record.status, finalizes_at=0) == replace(status, finalizes_at=0)
        assert record.status.mode(now) is status.mode(now)
        assert (record.closed, record.payout_begun or not holdings.payout_begun) == (holdings.closed, True)
        if record.owed is not None:
            assert fingerprint(record.owed.state_hash, outcome_hash(record.owed.outcome)) == status.fingerprint

    @invariant()
    def until_the_next_due_time_nothing_is_due(self) -> None:
        """Alice has looked; then nothing but time goes by."""
        alice, now = self.alice, self.table.now
        due = automatic_actions.next_due(alice.channel, now)
        for later in {now, (due or now + 10 * DURATION) - 1}:
            assert step(alice.channel, inputs.Tick(), later, alice.key, self.game) == (alice.channel, ())

    def teardown(self) -> None:
        """Bob is gone; Alice sees to it that the channel ends."""
        self._look()
        for _ in range(6):
            self.alice.try_to(inputs.ConcludeWanted())
            self.alice.try_to(inputs.ChallengeWanted())
            self.time_passes(2 * DURATION)
            if self.alice.phase in OVER:
                break
        self._look()
        self._is_paid()

    def _is_paid(self) -> None:
        if self.alice.phase not in OVER:
            assert self.alice.phase in (Phase.CHECKING, Phase.PREFUND)
            assert not any(isinstance(each, effects.SubmitDeposit) for each in self.alice.submitted)
            return
        owed, paid_in = self.alice.newest.state.outcome[0].amount, self.table.held + self.table.payouts.total()
        assert self.table.payouts[ALICE.address] == min(owed, paid_in)


def _next(bot: Bot, state: VariablePart) -> VariablePart:
    try:
        move = bot.move(state, another_round=True)
    except ForcemoveError:
        move = None
    return state if move is None else move.after(state)


TestAwakeAlice = AwakeAlice.TestCase
TestAwakeAlice.settings = settings(stateful_step_count=40)
