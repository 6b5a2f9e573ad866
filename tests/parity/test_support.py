"""Support proofs: the twin and the bytecode accept and refuse the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove.protocol import encoding, rules, signing, types
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove.protocol.words import EMPTY_STATUS, Status
from tests.expected import known
from tests.parity.core_harness import Harness
from tests.parity.core_verdict import ALLOWED, Verdict, of_python
from tests.protocol.builders import (
    COUNTING,
    MALLORY,
    chain,
    fixed_part,
    pack_pattern,
    players,
    proof,
    sign,
    state,
    usual_pattern,
)

HARNESS = Harness("ProofHarness")
DOMAIN = HARNESS.domain
APP = HARNESS.app("CountingApp")


def channel(count: int) -> types.FixedPart:
    return fixed_part(players(count), app=APP)


def compare(fixed: types.FixedPart, proof_: SupportProof) -> Verdict:
    verdict = of_python(lambda: rules.require_supported(DOMAIN, fixed, proof_, COUNTING))
    assert verdict == HARNESS.supported(fixed, proof_)
    return verdict


def supports(states: Sequence[VariablePart], pattern: Sequence[int], count: int) -> bool:
    """The rule in the words of the protocol: the state of one's own turn or a later one, any if that lies before."""
    first, last = states[0].turn_num, states[-1].turn_num
    for participant, index in enumerate(pattern):
        own_turns = [turn for turn in range(max(0, last - count + 1), last + 1) if turn % count == participant]
        if index >= len(states) or any(turn > first + index for turn in own_turns):
            return False
    return True


def all_signatures(
    states: Sequence[VariablePart], keys: Sequence[signing.Key], fixed: types.FixedPart
) -> dict[tuple[int, int], types.Signature]:
    """By participant and state."""
    return {
        (participant, index): sign(key, state_, fixed, DOMAIN)
        for participant, key in enumerate(keys)
        for index, state_ in enumerate(states)
    }


@pytest.mark.parametrize("count", [2, 3, 4])
def test_every_pattern_of_a_small_channel(count: int) -> None:
    """Every last mover, every length of chain, every choice of who signs what, one index too far included (which one
    state has no room for)."""
    keys, fixed = players(count), channel(count)
    for last_turn, length in product(range(4 * count, 5 * count), range(1, count + 1)):
        states = chain(*range(last_turn - length + 1, last_turn + 1), num_participants=count)
        signatures = all_signatures(states, keys, fixed)
        for pattern in product(range(length + 1 if length > 1 else 1), repeat=count):
            chosen = tuple(signatures[i, min(index, length - 1)] for i, index in enumerate(pattern))
            verdict = compare(fixed, SupportProof(states, chosen, pack_pattern(pattern)))
            assert (verdict == ALLOWED) == supports(states, pattern, count), (last_turn, pattern)


@pytest.mark.parametrize("count", [5, 8])
def test_random_patterns_of_a_large_channel(count: int) -> None:
    rng = Random(count)
    keys, fixed = players(count), channel(count)
    met: Counter[bool] = Counter()
    for _ in range(150 if count == 5 else 15):
        length, last_turn = rng.randint(1, count), rng.randrange(3 * count, 5 * count)
        states = chain(*range(last_turn - length + 1, last_turn + 1), num_participants=count)
        lowest = usual_pattern(states, count)
        pattern = [rng.randint(index, length - 1) for index in lowest]
        if length > 1 and rng.random() < 0.5:
            pattern[rng.randrange(count)] = rng.randrange(length + 1)
        signatures = all_signatures(states, keys, fixed) if count == 5 else {}
        chosen = tuple(
            signatures.get((i, index)) or sign(keys[i], states[min(index, length - 1)], fixed, DOMAIN)
            for i, index in enumerate(pattern)
        )
        verdict = compare(fixed, SupportProof(states, chosen, pack_pattern(pattern)))
        assert (verdict == ALLOWED) == supports(states, pattern, count)
        met[verdict == ALLOWED] += 1
    assert met[True]
    assert met[False]


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_prefund_states_need_everybody_who_never_moved(count: int) -> None:
    """Turn 0 by itself, and every later turn of the setup as the chain from 0."""
    keys, fixed = players(count), channel(count)
    for turn in {0, 1, count - 1}:
        states = chain(*range(turn + 1), num_participants=count)
        assert compare(fixed, proof(*states, keys=keys, fixed=fixed, domain=DOMAIN)) == ALLOWED


# ------------------------------------------------------------------------------------------------ refused proofs

FIXED = channel(2)
GOOD = proof(*chain(10, 11), fixed=FIXED, domain=DOMAIN)


def test_a_usual_proof_is_accepted() -> None:
    assert compare(FIXED, GOOD) == ALLOWED


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (replace(GOOD, signed_states=0), ("SignedStateOutOfRange", (1, 0))),
        (replace(GOOD, signed_states=0x0200), ("SignedStateOutOfRange", (1, 2))),
        (replace(GOOD, states=(state(10), state(11, app_data=state(12).app_data))), ("WrongCount", (11, 12))),
    ],
)
def test_a_bad_proof_is_refused(changed: SupportProof, expected: tuple[str, tuple[object, ...]]) -> None:
    assert compare(FIXED, changed) == expected


@pytest.mark.parametrize("participant", [0, 1])
def test_a_stranger_signs_for_nobody(participant: int) -> None:
    signatures = list(GOOD.signatures)
    signatures[participant] = sign(MALLORY, GOOD.states[participant], FIXED, DOMAIN)
    expected = ("WrongSigner", (FIXED.participants[participant], MALLORY.address))
    assert compare(FIXED, replace(GOOD, signatures=tuple(signatures))) == expected


def test_one_signer_counts_once() -> None:
    doubled = (GOOD.signatures[1],) * 2
    assert compare(FIXED, replace(GOOD, signatures=doubled)).error == "WrongSigner"


@pytest.mark.parametrize(
    "foreign",
    [
        fixed_part(nonce=1, app=APP),
        fixed_part(app=bytes(19) + b"\x01"),
        fixed_part(app=APP, duration=61),
        fixed_part((MALLORY, *players(1)), app=APP),
    ],
    ids=["nonce", "app", "duration", "participants"],
)
def test_a_proof_is_good_for_its_own_channel_only(foreign: types.FixedPart) -> None:
    signed_there = proof(state(10), state(11), fixed=foreign, domain=DOMAIN)
    assert compare(FIXED, signed_there).error == "WrongSigner"


# ------------------------------------------------------------------------------------------- proofs that we build


@settings(max_examples=150)
@given(st.data(), st.integers(2, 5))
def test_what_is_built_is_accepted_and_nothing_shorter_exists(data: st.DataObject, count: int) -> None:
    keys, fixed = players(count), channel(count)
    last_turn = data.draw(st.integers(count - 1, 4 * count))
    states = chain(*range(last_turn - count + 1, last_turn + 1), num_participants=count)
    signers = [data.draw(st.sets(st.integers(0, count - 1))) | {state_.turn_num % count} for state_ in states]
    signed = [
        SignedState(state_, {i: sign(keys[i], state_, fixed, DOMAIN) for i in who})
        for state_, who in zip(states, signers, strict=True)
    ]
    built = known(rules.build_support_proof(fixed, signed))
    assert compare(fixed, built) == ALLOWED
    assert len(built.states) == shortest(signers, states, count)


def shortest(signers: Sequence[set[int]], states: Sequence[VariablePart], count: int) -> int:
    """By trying every chain and every choice of signatures, the shortest first."""
    for length in range(1, count + 1):
        tail = states[-length:]
        choices = [[i for i in range(length) if p in signers[len(states) - length + i]] for p in range(count)]
        if any(supports(tail, pattern, count) for pattern in product(*choices)):
            return length
    raise AssertionError("the whole chain supports")


# -------------------------------------------------------------------------------------------------- from the record


def recorded_as(fixed: types.FixedPart, recorded: VariablePart) -> Status:
    hashes = encoding.hash_state(encoding.channel_id(fixed, DOMAIN), recorded)
    return Status(recorded.turn_num, 0, encoding.fingerprint(hashes.state, hashes.outcome))


def compare_on(status: Status, fixed: types.FixedPart, proof_: SupportProof) -> Verdict:
    verdict = of_python(lambda: rules.require_supported(DOMAIN, fixed, proof_, COUNTING, status))
    assert verdict == HARNESS.supported(fixed, proof_, status)
    return verdict


@pytest.mark.parametrize("count", [2, 3, 4])
def test_every_choice_of_signers_from_the_record(count: int) -> None:
    """Every mover after the record, every length, every choice of who signs what."""
    keys, fixed = players(count), channel(count)
    for first, length in product(range(4 * count, 5 * count), range(1, count)):
        states = chain(*range(first, first + length + 1), num_participants=count)
        status = recorded_as(fixed, states[0])
        movers = tuple(state_.turn_num % count for state_ in states[1:])
        for signers in product(range(count), repeat=length):
            signatures = tuple(sign(keys[i], each, fixed, DOMAIN) for i, each in zip(signers, states[1:], strict=True))
            verdict = compare_on(status, fixed, SupportProof(states, signatures, 0))
            assert (verdict == ALLOWED) == (signers == movers)


@pytest.mark.parametrize("count", [2, 5, 8])
def test_what_a_client_builds_from_the_record_is_accepted(count: int) -> None:
    keys, fixed = players(count), channel(count)
    for length in range(1, count):
        states = chain(*range(50, 51 + length), num_participants=count)
        held = [SignedState(states[0]), *(signed_by_mover(each, keys, fixed) for each in states[1:])]
        built = known(rules.build_proof_from_record(fixed, states[0], held))
        assert compare_on(recorded_as(fixed, states[0]), fixed, built) == ALLOWED


def signed_by_mover(state_: VariablePart, keys: Sequence[signing.Key], fixed: types.FixedPart) -> SignedState:
    mover = state_.turn_num % len(keys)
    return SignedState(state_, {mover: sign(keys[mover], state_, fixed, DOMAIN)})


def test_a_client_builds_nothing_from_the_record_that_would_be_refused() -> None:
    keys, fixed = players(3), channel(3)
    states = chain(*range(50, 54), num_participants=3)
    held = [signed_by_mover(each, keys, fixed) for each in states]
    assert rules.build_proof_from_record(fixed, states[0], held) is None, "too far back"
    assert rules.build_proof_from_record(fixed, states[3], held) is None, "nothing after it"
    assert rules.build_proof_from_record(fixed, replace(states[1], app_data=b""), held) is None, "another one"
    assert rules.build_proof_from_record(fixed, states[1], [held[1], held[3]]) is None, "a turn is missing"
    assert rules.build_proof_from_record(fixed, states[2], [held[2], SignedState(states[3])]) is None, "not signed"
    assert rules.build_proof_from_record(fixed, states[2], []) is None


@pytest.mark.parametrize("status", [EMPTY_STATUS, recorded_as(FIXED, state(10, is_final=True))])
def test_a_proof_begins_with_the_recorded_state_and_no_other(status: Status) -> None:
    given = SupportProof(chain(10, 11), (sign(players(2)[1], state(11), FIXED, DOMAIN),), 0)
    assert compare_on(recorded_as(FIXED, state(10)), FIXED, given) == ALLOWED
    assert compare_on(status, FIXED, given).error == "FingerprintMismatch"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ((state(10), state(11, app_data=state(12).app_data)), ("WrongCount", (11, 12))),
        ((state(10), state(11, app_data=bytes(8_193))), ("AppDataTooLong", (8_193,))),
    ],
)
def test_the_rules_hold_after_the_record(
    changed: tuple[VariablePart, ...], expected: tuple[str, tuple[object, ...]]
) -> None:
    given = SupportProof(changed, (sign(players(2)[1], state(11), FIXED, DOMAIN),), 0)
    assert compare_on(recorded_as(FIXED, state(10)), FIXED, given) == expected
