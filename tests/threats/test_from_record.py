"""Proofs that begin with the recorded state: rows 34, 35 and 38 of the list of attacks, and what else could be tried.

The argument that nothing is supported from the record which not all can be held to is in `IAdjudicator`; here it is
attacked: `by_challenges` brings about with challenges and answers alone what a proof from the record records, and what
such a proof is refused for they are refused for, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from forcemove import Key, keccak256
from forcemove.protocol import encoding, logs, types
from forcemove.protocol.codec.packed_writer import checkpoint_call
from forcemove.protocol.types import SupportProof, VariablePart
from forcemove.protocol.words import Mode
from tests.parity.core_verdict import Verdict
from tests.protocol.builders import ALICE, BOB, DAY, MALLORY, chain, count_data, final, outcome, players, proof, state
from tests.threats.court import ALLOWED, Court

A = ALICE.address
COUNTS = [2, 3, 8]
RECORDED = 40
"""A turn far behind the setup of every channel here."""


class Table:
    """A channel of `count` participants with state `RECORDED` on the record, which all have signed."""

    def __init__(self, court: Court, count: int) -> None:
        self.court, self.count, self.keys = court, count, players(count)
        self.fixed = court.channel(keys=self.keys)
        self.recorded = self.state(RECORDED)
        assert self.checkpoint(self.signed_by_all(self.recorded)) == ALLOWED

    def state(self, turn: int, alice: int = 10, is_final: bool = False) -> VariablePart:
        """Of twenty, this much to Alice."""
        return state(turn, outcome(alice, 20 - alice), is_final=is_final, num_participants=self.count)

    def mover(self, state_: VariablePart) -> Key:
        return self.keys[state_.turn_num % self.count]

    def signed_by_all(self, *states: VariablePart) -> SupportProof:
        return proof(*states, keys=self.keys, fixed=self.fixed, domain=self.court.domain)

    def from_record(self, *states: VariablePart, signers: Sequence[Key] | None = None) -> SupportProof:
        """The first is the recorded one; the others are signed by their movers unless it is said by whom."""
        signers = [self.mover(each) for each in states[1:]] if signers is None else signers
        return SupportProof(states, self.signatures(states[1:], signers), 0)

    def signatures(self, states: Sequence[VariablePart], signers: Sequence[Key]) -> tuple[types.Signature, ...]:
        return tuple(self.court.sign(signer, each, self.fixed) for each, signer in zip(states, signers, strict=True))

    def checkpoint(self, given: SupportProof) -> Verdict:
        return self.court.checkpoint(MALLORY.address, self.fixed, given)

    def challenge(self, given: SupportProof) -> Verdict:
        return self.court.challenge(A, self.fixed, given)

    def later(self, length: int) -> tuple[VariablePart, ...]:
        """The recorded state and this many after it."""
        return (self.recorded, *(self.state(RECORDED + step) for step in range(1, length + 1)))

    @property
    def mode(self) -> Mode:
        return self.court.status(self.fixed).mode(self.court.now)

    def require_recorded(self, recorded: VariablePart) -> None:
        hashes = encoding.hash_state(self.court.id_of(self.fixed), recorded)
        status = self.court.status(self.fixed)
        assert status.fingerprint == encoding.fingerprint(hashes.state, hashes.outcome)
        assert status.turn_num_record == recorded.turn_num

    def refuse(self, given: SupportProof, error: str, *values: object) -> None:
        """In both operations, and nothing is changed."""
        before = self.court.status(self.fixed)
        for verdict in (self.checkpoint(given), self.challenge(given)):
            assert verdict.error == error
            assert not values or verdict.values == values
        assert self.court.status(self.fixed) == before


@pytest.fixture(params=COUNTS)
def table(court: Court, request: pytest.FixtureRequest) -> Table:
    return Table(court, request.param)


@pytest.fixture
def three(court: Court) -> Table:
    return Table(court, 3)


# ------------------------------------------------------------------------------------------------------- 34, 35, 38


def hidden_record(three: Table) -> VariablePart:
    """Alice and Bob, two of three, checkpoint a state whose predecessor Carol never sees; the one before was hers."""
    seen, hidden, shown = (three.state(turn) for turn in (RECORDED + 4, RECORDED + 5, RECORDED + 6))
    assert three.mover(seen) == three.keys[2]
    assert three.checkpoint(three.signed_by_all(seen, hidden, shown)) == ALLOWED
    return shown


def test_threat_34_who_was_kept_in_the_dark_goes_on_alone(three: Table) -> None:
    """With what the log shows and her own signature."""
    shown = hidden_record(three)
    mine = three.state(shown.turn_num + 1)
    assert three.mover(mine) == three.keys[2]
    given = three.from_record(shown, mine)
    assert three.checkpoint(given) == ALLOWED
    assert three.court.logged(logs.Checkpointed(three.court.id_of(three.fixed), mine, given.signatures))
    three.require_recorded(mine)


def test_threat_34_who_was_kept_in_the_dark_starts_the_clock_with_her_own_move(three: Table) -> None:
    shown = hidden_record(three)
    mine = three.state(shown.turn_num + 1)
    assert three.challenge(three.from_record(shown, mine)) == ALLOWED
    assert three.mode is Mode.CHALLENGE
    three.require_recorded(mine)


def test_threat_34_two_of_three_cannot_pass_over_the_third(three: Table) -> None:
    """Nor sign in its place, nor stop where it is its turn and go on behind it."""
    shown = hidden_record(three)
    carols, next_, after = (three.state(shown.turn_num + step) for step in (1, 2, 3))
    alice, bob, carol = three.keys
    renumbered = replace(shown, turn_num=carols.turn_num)
    three.refuse(three.from_record(renumbered, next_), "FingerprintMismatch")
    for forger in (alice, bob):
        three.refuse(three.from_record(shown, carols, signers=[forger]), "WrongSigner", carol.address, forger.address)
        three.refuse(
            three.from_record(shown, carols, next_, signers=[forger, alice]),
            "WrongSigner",
            carol.address,
            forger.address,
        )
    three.refuse(three.from_record(carols, next_, after), "FingerprintMismatch")


@pytest.mark.parametrize("count", COUNTS)
def test_threat_35_a_challenge_after_a_checkpoint_of_the_same_state_starts_the_clock(court: Court, count: int) -> None:
    """Whatever proof it was sent with: signed by all, a chain, or from what was recorded before."""
    table = Table(court, count)
    states = table.later(1)
    for given in (table.signed_by_all(states[1]), table.signed_by_all(*states), table.from_record(*states)):
        with court.trial():
            assert table.checkpoint(table.from_record(*states)) == ALLOWED
            assert table.challenge(given) == ALLOWED
            assert court.status(table.fixed).finalizes_at == court.now + DAY
            assert court.logged(logs.ChallengeRegistered(court.id_of(table.fixed), court.now + DAY, states[1], ()))


def test_threat_35_the_other_state_of_the_turn_does_not_pass_for_it(table: Table) -> None:
    _, checked = table.later(1)
    other = table.state(checked.turn_num, alice=20)
    assert table.checkpoint(table.from_record(table.recorded, checked)) == ALLOWED
    for given in (table.signed_by_all(other), table.from_record(table.recorded, other)):
        assert table.challenge(given).error == "FingerprintMismatch"
        assert table.checkpoint(given).error == "TurnNumberNotIncreased"
    assert table.mode is Mode.OPEN


def bound(channel_id: bytes, turn: int) -> VariablePart:
    return state(turn, app_data=keccak256(channel_id + encoding.word(turn)))


def test_threat_38_a_proof_from_another_channel_is_refused_by_the_app(court: Court) -> None:
    app = court.chain.deploy("BoundApp")
    here, elsewhere = court.channel(0, app=app), court.channel(1, app=app)
    id_, foreign = court.id_of(here), bound(court.id_of(elsewhere), 11)
    refused = ("WrongProof", (bound(id_, 11).app_data, foreign.app_data))
    assert court.challenge_with(here, bound(id_, 10), foreign) == refused
    assert court.challenge_with(elsewhere, bound(court.id_of(elsewhere), 10), foreign) == ALLOWED
    assert court.challenge_with(here, bound(id_, 9), bound(id_, 10)) == ALLOWED
    assert court.respond_with(here, bound(id_, 10), foreign, mover=BOB) == refused
    assert court.respond_with(here, bound(id_, 10), bound(id_, 11), mover=BOB) == ALLOWED
    later = SupportProof((bound(id_, 11), bound(court.id_of(elsewhere), 12)), (types.Signature(bytes(64)),), 0)
    assert court.checkpoint(A, here, later).error == "WrongProof"


# ------------------------------------------------------------------------------------------- lengths and signatures


def test_up_to_n_states_go_on_from_the_record(table: Table) -> None:
    for length in range(1, table.count):
        for operation in (table.checkpoint, table.challenge):
            with table.court.trial():
                states = table.later(length)
                assert operation(table.from_record(*states)) == ALLOWED
                table.require_recorded(states[-1])
    data = bytearray(checkpoint_call(table.fixed, table.from_record(*table.later(table.count - 1))))
    data[table.court.proof_at(table.fixed) + 6] += 1
    assert table.court.packed(A, bytes(data)) == ("StateCountOutOfRange", (table.count + 1,))


def test_each_later_state_is_signed_by_its_own_mover(table: Table) -> None:
    states = table.later(table.count - 1)
    movers = [table.mover(each) for each in states[1:]]
    for place, mover in enumerate(movers):
        for forger in (*(key for key in table.keys if key != mover), MALLORY):
            signers = [*movers[:place], forger, *movers[place + 1 :]]
            table.refuse(table.from_record(*states, signers=signers), "WrongSigner", mover.address, forger.address)


def test_a_movers_signature_of_a_later_state_does_not_serve_for_its_own(court: Court) -> None:
    """In a proof signed by all it would: who signs a later state has agreed to those before."""
    table = Table(court, 8)
    states = table.later(3)
    signatures = list(table.from_record(*states).signatures)
    signatures[0] = table.court.sign(table.mover(states[1]), states[3], table.fixed)
    table.refuse(SupportProof(states, tuple(signatures), 0), "WrongSigner")


def test_another_number_of_signatures_is_no_proof_from_the_record(table: Table) -> None:
    data = checkpoint_call(table.fixed, table.from_record(*table.later(1)))
    for given in (data[:-64], data + data[-64:]):
        assert table.court.packed(A, given) == ("LengthMismatch", (len(data), len(given)))


# --------------------------------------------------------------------------------------- chains that are none


def test_chains_that_skip_or_branch(table: Table) -> None:
    """Calldata has turns in a row, so that the recorded state can only be given another one."""
    recorded, next_ = table.later(1)
    skipped = table.state(RECORDED + 2)
    renumbered = replace(recorded, turn_num=RECORDED + 1)
    table.refuse(table.from_record(renumbered, skipped), "FingerprintMismatch")
    branch = table.state(RECORDED, alice=0)
    table.refuse(table.from_record(branch, table.state(RECORDED + 1, alice=0)), "FingerprintMismatch")
    before = table.state(RECORDED - 1)
    assert table.checkpoint(table.from_record(before, recorded)).error == "TurnNumberNotIncreased"
    if table.count > 2:
        table.refuse(table.from_record(before, recorded, next_), "FingerprintMismatch")


def test_the_rules_hold_from_the_record_on(table: Table) -> None:
    unpaid = replace(table.state(RECORDED + 1), outcome=outcome(10, 11))
    table.refuse(table.from_record(table.recorded, unpaid), "TotalChanged", types.ETHER, 20, 21)
    wrong = replace(table.state(RECORDED + 1), app_data=count_data(RECORDED + 2))
    table.refuse(table.from_record(table.recorded, wrong), "WrongCount", RECORDED + 1, RECORDED + 2)
    dear = table.state(RECORDED + 1, alice=20, is_final=True)
    table.refuse(table.from_record(table.recorded, dear), "OutcomeChanged")


def test_final_states_follow_final_states(table: Table) -> None:
    """Movers may end the game by themselves, each in its own turn, and nobody goes back."""
    last = [table.recorded]
    for step in range(1, table.count):
        last.append(table.state(RECORDED + step, is_final=True))
    assert table.checkpoint(table.from_record(*last)) == ALLOWED
    table.require_recorded(last[-1])
    turn = last[-1].turn_num + 1
    table.refuse(table.from_record(last[-1], table.state(turn)), "FinalStateRequired")
    assert table.challenge(table.from_record(last[-1], table.state(turn, is_final=True))) == ALLOWED


def test_what_all_have_signed_n_turns_above_is_out_of_reach(table: Table) -> None:
    """The warning in `IAdjudicator`: without the one who holds back, n - 1 turns above the record is as far as movers
    get, in as many proofs as they like."""
    agreed = table.state(RECORDED + table.count, alice=0)
    last = [table.recorded, *(table.state(RECORDED + step, is_final=True) for step in range(1, table.count))]
    assert table.checkpoint(table.from_record(*last)) == ALLOWED
    own = table.state(RECORDED + table.count, is_final=True)
    honest = table.mover(own)
    for forger in table.keys:
        if forger != honest:
            given = table.from_record(last[-1], own, signers=[forger])
            assert table.checkpoint(given) == ("WrongSigner", (honest.address, forger.address))
    assert table.checkpoint(table.signed_by_all(agreed)) == ALLOWED
    table.require_recorded(agreed)


# ------------------------------------------------------------------------------------------------------------- modes


def test_in_a_challenge_it_answers_or_starts_another(table: Table) -> None:
    assert table.challenge(table.from_record(*table.later(1))) == ALLOWED
    challenged, next_ = table.state(RECORDED + 1), table.state(RECORDED + 2)
    stale = table.from_record(table.recorded, challenged)
    assert table.checkpoint(stale) == ("TurnNumberNotIncreased", (RECORDED + 1, RECORDED + 1))
    assert table.challenge(stale) == ("TurnNumberNotIncreased", (RECORDED + 1, RECORDED + 1))
    given = table.from_record(challenged, next_)
    with table.court.trial():
        assert table.checkpoint(given) == ALLOWED
        assert table.mode is Mode.OPEN
    table.court.chain.travel_to(table.court.now + DAY // 2)
    assert table.challenge(given) == ALLOWED
    assert table.court.status(table.fixed).finalizes_at == table.court.now + DAY


def test_after_expiry_nothing_follows(table: Table) -> None:
    """From the very second of the deadline on, and after part payments, too."""
    court = table.court
    assert court.deposit(A, court.id_of(table.fixed), types.ETHER, 0, 5) == ALLOWED
    assert court.restate(table.fixed, table.recorded) == ALLOWED
    court.expire(table.fixed)
    given = table.from_record(*table.later(1))
    table.refuse(given, "ChannelFinalized")
    assert court.transfer_all(table.fixed, table.recorded) == ALLOWED
    assert court.status(table.fixed).finalizes_at
    table.refuse(given, "ChannelFinalized")
    rest = replace(table.recorded, outcome=outcome(5, 10))
    table.refuse(table.from_record(rest, table.state(RECORDED + 1)), "ChannelFinalized")


def test_a_conclusion_that_pays_in_part_ends_it_too(table: Table) -> None:
    court = table.court
    last = final(RECORDED + 1)
    signatures = court.sign_all(last, table.fixed, table.keys)
    assert court.conclude(A, table.fixed, last.outcome, last.turn_num, signatures) == ALLOWED
    table.refuse(table.from_record(*table.later(1)), "ChannelFinalized")
    table.refuse(table.from_record(last, table.state(RECORDED + 2, is_final=True)), "ChannelFinalized")


@pytest.mark.parametrize("count", COUNTS)
def test_where_nothing_is_recorded_there_is_nothing_to_go_on_from(court: Court, count: int) -> None:
    """Neither in a new channel nor in a closed one, which leaves no status either."""
    table = Table(court, count)
    closed, fresh = table.fixed, court.channel(nonce=1, keys=table.keys)
    assert court.deposit(A, court.id_of(closed), types.ETHER, 0, 20) == ALLOWED
    signatures = court.sign_all(final(), closed, table.keys)
    assert court.conclude(A, closed, final().outcome, final().turn_num, signatures) == ALLOWED
    for fixed in (fresh, closed):
        table.fixed = fixed
        table.refuse(table.from_record(*table.later(1)), "FingerprintMismatch")
        assert court.status(fixed).is_empty


# ----------------------------------------------------------------- the argument: a row of challenges gets there, too


def by_challenges(table: Table, given: SupportProof) -> Verdict:
    """What `given` would record, with no more signatures than it has, by challenging and answering alone."""
    court, verdict = table.court, ALLOWED
    for from_, to, signature in zip(given.states, given.states[1:], given.signatures, strict=False):
        if table.mode is Mode.OPEN:
            verdict = court.restate(table.fixed, from_)
        if verdict == ALLOWED:
            verdict = court.respond(A, table.fixed, from_, to, signature)
        if verdict != ALLOWED:
            return verdict
    return verdict


def random_proof(table: Table, rng: Random) -> SupportProof:
    """One that goes on from the record, in which now and then something is wrong."""
    states = [table.recorded]
    for _ in range(rng.randint(1, table.count - 1)):
        turn = states[-1].turn_num + 1
        is_final = rng.random() < (0.9 if states[-1].is_final else 0.15)
        alice = states[-1].outcome[0].amount if is_final and rng.random() < 0.9 else rng.randint(0, 20)
        states.append(table.state(turn, alice, is_final))
    if rng.random() < 0.1:
        states[0] = table.state(RECORDED, alice=rng.randint(0, 20))
    signers = [table.mover(each) if rng.random() < 0.95 else rng.choice(table.keys) for each in states[1:]]
    return table.from_record(*states, signers=signers)


@pytest.mark.parametrize("is_challenged", [False, True])
def test_nothing_is_recorded_that_challenges_and_answers_could_not_bring_about(
    table: Table, is_challenged: bool
) -> None:
    rng, met = Random(table.count), Counter[str]()
    if is_challenged:
        assert table.court.restate(table.fixed, table.recorded) == ALLOWED
    for _ in range(80):
        given = random_proof(table, rng)
        with table.court.trial():
            verdict = table.checkpoint(given)
            recorded = table.court.status(table.fixed)
        with table.court.trial():
            slow = by_challenges(table, given)
            assert (verdict == ALLOWED) == (slow == ALLOWED), (verdict, slow)
            if verdict == ALLOWED:
                assert table.court.status(table.fixed) == recorded
        met[verdict.error] += 1
    assert met[""] > 20
    assert met.keys() >= {"", "WrongSigner", "FingerprintMismatch"}


def test_a_chain_signed_by_all_needs_nothing_of_the_record(three: Table) -> None:
    """Nor does it have to follow it."""
    assert three.checkpoint(three.signed_by_all(*chain(50, 51, 52, num_participants=3))) == ALLOWED
    assert three.court.record(three.fixed) == 52
