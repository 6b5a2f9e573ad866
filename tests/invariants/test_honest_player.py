"""Alice is honest and awake, Bob is neither honest nor bound by what was played: she never gets less than the newest
state gives her that she can prove.

Alice's share rises with every turn, so that Bob gains by every older state that he gets through.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from forcemove.protocol import encoding, logs, types
from forcemove.protocol.types import SupportProof, VariablePart
from forcemove.protocol.words import Mode
from tests.parity.core_verdict import Verdict
from tests.parity.core_world import World
from tests.protocol.builders import ALICE, BOB, fixed_part, outcome, proof, sign, sign_all, state

STAKE = 1_000
FIRST_MOVE = 4


def share(turn: int) -> int:
    """What Alice has at this turn."""
    return STAKE + 2 * turn


def scripted(turn: int, bonus: int = 0) -> VariablePart:
    """The state that is played at this turn; with a bonus, another one that Bob might sign instead."""
    hers = share(max(turn, FIRST_MOVE - 1)) + bonus
    return state(turn, outcome(hers, 2 * STAKE - hers))


class AwakeAlice(RuleBasedStateMachine):
    """Bob does whatever he can; Alice answers at once."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.channel = fixed_part(app=self.world.app)
        self.id = encoding.channel_id(self.channel, self.world.domain)
        self.world.deposit(ALICE.address, self.id, types.ETHER, 0, STAKE)
        self.world.deposit(BOB.address, self.id, types.ETHER, STAKE, STAKE)
        self.turn = FIRST_MOVE
        self.recorded: VariablePart | None = None
        self.before = self.world.chain.balance(ALICE.address)
        self.world.take_logs()

    # ---------------------------------------------------------------------------------------------------- helpers

    def _proof(self, turn: int) -> SupportProof:
        """What both hold of the played states: the turn's and the one before."""
        return proof(scripted(turn - 1), scripted(turn), fixed=self.channel, domain=self.world.domain)

    @property
    def _record(self) -> int:
        return self.world.model.status_of(self.id).turn_num_record

    @property
    def _mode(self) -> Mode:
        return self.world.model.status_of(self.id).mode(self.world.now)

    def _moves(self, verdict: Verdict) -> None:
        """Learn from the chain what was recorded, and answer."""
        for log in self.world.take_logs():
            if isinstance(log, logs.ChallengeRegistered | logs.Responded | logs.Checkpointed):
                self.recorded = log.state
        if not verdict.error:
            self._alice_answers()

    def _alice_answers(self) -> None:
        if self._mode is not Mode.CHALLENGE or self.recorded is None:
            return
        if self.turn > self._record:
            self._must(self.world.checkpoint(ALICE.address, self.channel, self._proof(self.turn)))
            self.recorded = scripted(self.turn)
        elif self.channel.mover(self._record + 1) == 0:
            move = scripted(self._record + 1)
            signature = sign(ALICE, move, self.channel, self.world.domain)
            self._must(self.world.respond(ALICE.address, self.channel, self.recorded, move, signature))
            self.recorded = move

    def _must(self, verdict: Verdict) -> None:
        assert not verdict.error, verdict

    def _settled(self) -> bool:
        return self._mode is Mode.FINALIZED or self.world.model.holdings_of(self.id, types.ETHER).closed

    # ------------------------------------------------------------------------------------------------------- play

    @precondition(lambda self: self.recorded is None)
    @rule(turns=st.integers(1, 3))
    def both_play_on(self, turns: int) -> None:
        self.turn += turns

    @precondition(lambda self: not self._settled())
    @rule(back=st.integers(0, 6))
    def bob_challenges_with_some_state(self, back: int) -> None:
        turn = max(1, self.turn - back)
        self._moves(self.world.challenge(BOB.address, self.channel, self._proof(turn)))

    @precondition(lambda self: not self._settled() and self.recorded is not None)
    @rule()
    def bob_challenges_with_the_recorded_state(self) -> None:
        assert self.recorded is not None
        self._moves(self.world.challenge(BOB.address, self.channel, SupportProof((self.recorded,), (), 0)))

    @precondition(lambda self: not self._settled())
    @rule(back=st.integers(0, 6))
    def bob_checkpoints_some_state(self, back: int) -> None:
        self._moves(self.world.checkpoint(BOB.address, self.channel, self._proof(max(1, self.turn - back))))

    @precondition(lambda self: not self._settled() and self.recorded is not None)
    @rule(bonus=st.sampled_from([0, 1]))
    def bob_responds_with_another_move(self, bonus: int) -> None:
        assert self.recorded is not None
        move = scripted(self.recorded.turn_num + 1, bonus)
        signature = sign(BOB, move, self.channel, self.world.domain)
        self._moves(self.world.respond(BOB.address, self.channel, self.recorded, move, signature))

    @precondition(lambda self: not self._settled())
    @rule()
    def bob_cannot_conclude_alone(self) -> None:
        final = VariablePart(outcome(0, 2 * STAKE), b"", self.turn + 1, True)
        twice_bob = sign_all(final, (BOB, BOB), self.channel, self.world.domain)
        verdict = self.world.conclude(BOB.address, self.channel, final.outcome, final.turn_num, twice_bob)
        assert verdict.error == "WrongSigner"

    @precondition(lambda self: not self._settled())
    @rule()
    def alice_challenges(self) -> None:
        if self._mode is not Mode.OPEN:
            return
        if self.turn > self._record:
            self._moves(self.world.challenge(ALICE.address, self.channel, self._proof(self.turn)))
        elif self.recorded is not None:
            self._moves(self.world.challenge(ALICE.address, self.channel, SupportProof((self.recorded,), (), 0)))

    @rule(seconds=st.sampled_from([1, 43_200, 86_400]))
    def time_passes(self, seconds: int) -> None:
        self.world.chain.travel_to(self.world.now + seconds)

    # ------------------------------------------------------------------------------------------------------ claims

    @invariant()
    def what_is_recorded_and_runs_is_never_older_than_what_alice_can_prove(self) -> None:
        if self._mode is not Mode.OPEN:
            assert self._record >= self.turn

    def teardown(self) -> None:
        """Whatever has happened: Alice gets out, with what is hers."""
        if not hasattr(self, "world"):
            return
        while self._mode is not Mode.FINALIZED:
            self.alice_challenges()
            finalizes_at = self.world.model.status_of(self.id).finalizes_at
            self.world.chain.travel_to(max(self.world.now, finalizes_at))
        assert self.recorded is not None
        hashed = encoding.hash_state(self.id, self.recorded).state
        self._must(self.world.transfer(ALICE.address, self.id, hashed, self.recorded.outcome))
        assert self.world.chain.balance(ALICE.address) - self.before >= share(self.turn)


TestAwakeAlice = AwakeAlice.TestCase
TestAwakeAlice.settings = settings(max_examples=40, stateful_step_count=20)
