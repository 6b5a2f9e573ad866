"""Three participants, of whom Alice and Bob collude: they sign what they like in their turns, twice over, hide it, and
show it when it suits them. Carol, who is honest and awake, never gets less than she had in the newest state that she
has signed.

`GivingApp` is what makes that a promise: a mover takes nothing from anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from forcemove import ETHER, AppError, Outcome
from forcemove.protocol.encoding import channel_id, hash_state
from forcemove.protocol.logs import ChallengeRegistered, Checkpointed, Responded
from forcemove.protocol.machine.effects import SubmitCheckpoint, SubmitConclude, SubmitRespond
from forcemove.protocol.machine.responses import Answer, best_answer, cheapest_proof
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove.protocol.words import Mode
from tests.parity.core_verdict import Verdict
from tests.parity.core_world import World
from tests.protocol.builders import fixed_part, outcome, players, sign, signed

KEYS = players(3)
ALICE, BOB, CAROL = KEYS
STAKE = 1_000
SETUP = 6
"""Turns before the first move, which is Alice's."""
gifts = st.integers(0, 5)


@dataclass(eq=False)
class TakenFromSomebody(AppError):
    """The twin of `GivingApp`'s error."""

    index: int


class Giving:
    """The twin of `contracts/test/GivingApp.sol`."""

    def valid_transition(self, channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
        for index in range(num_participants):
            is_mover = index == to.turn_num % num_participants
            if not is_mover and to.outcome[index].amount < from_.outcome[index].amount:
                raise TakenFromSomebody(index)
        return True


def opening(turn: int) -> VariablePart:
    return VariablePart(outcome(STAKE, STAKE, STAKE), b"", turn)


def after(state: VariablePart, gift: int, is_final: bool = False) -> VariablePart:
    """The next state, in which its mover gives this much to the participant behind it."""
    turn = state.turn_num + 1
    mover, payee = turn % 3, (turn + 1) % 3
    amounts = [entry.amount for entry in state.outcome]
    gift = 0 if is_final else min(gift, amounts[mover])
    amounts[mover] -= gift
    amounts[payee] += gift
    return VariablePart(outcome(*amounts), b"", turn, is_final)


class AwakeCarol(RuleBasedStateMachine):
    """`seen`: what Carol knows, as play left it, the newest last. `hidden`: what the two have made of some state of it
    without her, beginning with that state."""

    @initialize()
    def begin(self) -> None:
        self.world = World(app="GivingApp", rules=Giving())
        self.channel = fixed_part(KEYS, app=self.world.app)
        self.id = channel_id(self.channel, self.world.domain)
        for place, key in enumerate(KEYS):
            self.world.deposit(key.address, self.id, ETHER, place * STAKE, STAKE)
        self.seen = [self._by_mover(opening(turn)) for turn in range(SETUP)]
        self.promised = STAKE
        self.hidden: list[SignedState] = []
        self.recorded: SignedState | None = None
        self.is_over = False
        self.before = self.world.chain.balance(CAROL.address)
        self.world.take_logs()

    # ---------------------------------------------------------------------------------------------------- helpers

    def _by_mover(self, state: VariablePart) -> SignedState:
        key = KEYS[state.turn_num % 3]
        return signed(state, key, keys=KEYS, fixed=self.channel, domain=self.world.domain)

    @property
    def _mode(self) -> Mode:
        return self.world.model.status_of(self.id).mode(self.world.now)

    def _know(self, state: VariablePart) -> None:
        """One more state that Carol has seen, or signed: what she has in that is promised."""
        self.seen.append(self._by_mover(state))
        if state.turn_num % 3 == 2:
            self.promised = state.outcome[2].amount

    def _happens(self, verdict: Verdict) -> None:
        self._look()
        if not verdict.error:
            self._carol_answers()

    def _look(self) -> None:
        """Carol takes what the chain shows as a client does: as a new beginning beyond what she knows."""
        for log in self.world.take_logs():
            if isinstance(log, ChallengeRegistered | Responded | Checkpointed):
                self.recorded = SignedState(log.state)
                if log.state.turn_num > self.seen[-1].state.turn_num:
                    self.seen = [self.recorded]

    def _carol_answers(self) -> None:
        if self._mode is not Mode.CHALLENGE or self.recorded is None:
            return
        newest = self.seen[-1].state  # of two states of one turn the first to come counts, as it does for clients
        if newest.turn_num == self.recorded.state.turn_num and newest.turn_num % 3 == 1:
            self._know(after(newest, 0, newest.is_final))
        answer = best_answer(self.channel, self.recorded, self.seen)
        if answer is not None:
            assert not self._send(answer).error
            self._look()

    def _send(self, answer: Answer) -> Verdict:
        match answer:
            case SubmitRespond(challenged, response, signature):
                return self.world.respond(CAROL.address, self.channel, challenged, response, signature)
            case SubmitCheckpoint(given):
                return self.world.checkpoint(CAROL.address, self.channel, given)
            case SubmitConclude():
                raise AssertionError("nobody has signed an end with her")

    def _branches(self) -> list[SignedState]:
        """What the two can show, oldest first: what was played up to some state, and what they have hidden after it."""
        if not self.hidden:
            return self.seen
        first = self.hidden[0].state.turn_num
        return [*(each for each in self.seen if each.state.turn_num < first), *self.hidden]

    # ------------------------------------------------------------------------------------------------------- play

    @precondition(lambda self: self.recorded is None and not self.hidden)
    @rule(given=st.lists(gifts, min_size=1, max_size=4))
    def all_play_on(self, given: list[int]) -> None:
        for gift in given:
            state = self.seen[-1].state
            self._know(after(state, 0 if state.turn_num % 3 == 1 else gift))

    @precondition(lambda self: not self.is_over)
    @rule(back=st.integers(0, 4), given=st.lists(gifts, min_size=1, max_size=2), ends=st.booleans())
    def the_two_make_other_states(self, back: int, given: list[int], ends: bool) -> None:
        """After any state that Carol knows, as long as it is not her turn."""
        base = self.seen[max(0, len(self.seen) - 1 - back)]
        self.hidden = [base]
        for gift in given:
            state = self.hidden[-1].state
            if state.turn_num % 3 == 1 or state.turn_num + 1 < SETUP:
                return
            self.hidden.append(self._by_mover(after(state, gift, ends or state.is_final)))

    @precondition(lambda self: not self.is_over)
    @rule(cut=st.integers(0, 4), starts_clock=st.booleans())
    def the_two_show_what_all_have_signed(self, cut: int, starts_clock: bool) -> None:
        shown = self._branches()
        given = build_support_proof(self.channel, shown[: len(shown) - cut])
        if given is not None:
            self._submit(given, starts_clock)

    @precondition(lambda self: not self.is_over and self.recorded is not None)
    @rule(given=st.lists(gifts, min_size=1, max_size=2), ends=st.booleans(), starts_clock=st.booleans())
    def the_two_go_on_from_the_record(self, given: list[int], ends: bool, starts_clock: bool) -> None:
        assert self.recorded is not None
        states = [self.recorded.state]
        for gift in given:
            states.append(after(states[-1], gift, ends or states[-1].is_final))
        signatures = tuple(
            sign(KEYS[state.turn_num % 3 % 2], state, self.channel, self.world.domain) for state in states[1:]
        )  # for Carol, Alice signs
        self._submit(SupportProof(tuple(states), signatures, 0), starts_clock)

    def _submit(self, given: SupportProof, starts_clock: bool) -> None:
        if starts_clock:
            self._happens(self.world.challenge(ALICE.address, self.channel, given))
        else:
            self._happens(self.world.checkpoint(BOB.address, self.channel, given))

    @precondition(lambda self: not self.is_over and self.recorded is not None)
    @rule()
    def the_two_challenge_with_the_recorded_state(self) -> None:
        assert self.recorded is not None
        self._happens(self.world.challenge(BOB.address, self.channel, SupportProof((self.recorded.state,), (), 0)))

    @precondition(lambda self: not self.is_over and self.recorded is not None)
    @rule(gift=gifts, ends=st.booleans())
    def the_two_respond(self, gift: int, ends: bool) -> None:
        assert self.recorded is not None
        challenged = self.recorded.state
        move = after(challenged, gift, ends or challenged.is_final)
        signature = sign(KEYS[move.turn_num % 3 % 2], move, self.channel, self.world.domain)
        self._happens(self.world.respond(BOB.address, self.channel, challenged, move, signature))

    @precondition(lambda self: not self.is_over)
    @rule()
    def the_two_cannot_take_her_share(self) -> None:
        """Not by a move, and not by an end."""
        if self.recorded is None:
            return
        state = self.recorded.state
        greedy = replace(after(state, 0), outcome=_robbed(state.outcome))
        signature = sign(KEYS[greedy.turn_num % 3], greedy, self.channel, self.world.domain)
        given = SupportProof((state, greedy), (signature,), 0)
        if greedy.turn_num % 3 != 2 and state.outcome[2].amount:
            assert self.world.checkpoint(BOB.address, self.channel, given).error

    @precondition(lambda self: not self.is_over and self.recorded is not None)
    @rule()
    def carol_goes_on_alone(self) -> None:
        """Where it is her turn after the record: with her signature, and nothing else of anybody's."""
        assert self.recorded is not None
        state = self.recorded.state
        if state.turn_num % 3 != 1 or self.seen[-1].state != state or self._mode is Mode.FINALIZED:
            return
        self._know(after(state, 0, state.is_final))
        given = cheapest_proof(self.channel, state, [self.recorded, self.seen[-1]])
        assert given is not None
        assert not self.world.checkpoint(CAROL.address, self.channel, given).error
        self._look()

    @rule(seconds=st.sampled_from([1, 43_200, 86_400]))
    def time_passes(self, seconds: int) -> None:
        self.world.chain.travel_to(self.world.now + seconds)
        self.is_over = self.is_over or self._mode is Mode.FINALIZED

    # ------------------------------------------------------------------------------------------------------ claims

    @invariant()
    def what_is_recorded_and_runs_gives_carol_what_she_was_promised(self) -> None:
        if self.recorded is not None and self._mode is not Mode.OPEN:
            assert self.recorded.state.outcome[2].amount >= self.promised

    def teardown(self) -> None:
        """Whatever has happened: Carol gets out, with what is hers."""
        if not hasattr(self, "world"):
            return
        while self._mode is not Mode.FINALIZED:
            if self._mode is Mode.OPEN:
                self._carol_challenges()
            finalizes_at = self.world.model.status_of(self.id).finalizes_at
            self.world.chain.travel_to(max(self.world.now, finalizes_at))
        assert self.recorded is not None
        state = self.recorded.state
        assert not self.world.transfer(CAROL.address, self.id, hash_state(self.id, state).state, state.outcome).error
        assert self.world.chain.balance(CAROL.address) - self.before >= self.promised

    def _carol_challenges(self) -> None:
        recorded = self.recorded.state if self.recorded else None
        given = cheapest_proof(self.channel, recorded, self.seen)
        if given is None or (recorded is not None and given.last.turn_num <= recorded.turn_num):
            assert recorded is not None
            given = SupportProof((recorded,), (), 0)
        assert not self.world.challenge(CAROL.address, self.channel, given).error
        self._look()


def _robbed(paid: Outcome) -> Outcome:
    """Carol's share is Alice's."""
    alice, bob, carol = (entry.amount for entry in paid)
    return outcome(alice + carol, bob, 0)


def test_threat_34_whatever_two_of_three_do_the_third_gets_what_she_was_promised() -> None:
    run_state_machine_as_test(AwakeCarol, settings=settings(max_examples=60, stateful_step_count=25))
