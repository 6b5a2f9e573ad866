"""The rules about fixed parts, states and pairs of states: the twin and the bytecode give the same verdicts, error
values included."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import VariablePart, channel_id, word
from forcemove.protocol.rules import require_valid_state, require_valid_transition
from forcemove.protocol.types import (
    ETHER,
    MAX_ALLOCATIONS,
    MAX_PARTICIPANTS,
    UINT48_MAX,
    UINT256_MAX,
    ZERO_ADDRESS,
    FixedPart,
    Outcome,
    require_valid_outcome,
)
from tests.parity import core_abi as abi
from tests.parity.core_generate import Generator, Pair
from tests.parity.core_harness import Harness
from tests.parity.core_verdict import ALLOWED, Verdict, of_python
from tests.protocol.builders import COUNTING, chain, final, fixed_part, outcome, players, state

HARNESS = Harness()
DOMAIN = HARNESS.domain
APP = HARNESS.app("CountingApp")
LONG_PAIRS = 1_000_000


def check_pair(pair: Pair) -> None:
    id_ = channel_id(pair.fixed_part, DOMAIN)
    from_ = require_valid_state(id_, DOMAIN.adjudicator, pair.fixed_part, pair.from_)
    to = require_valid_state(id_, DOMAIN.adjudicator, pair.fixed_part, pair.to)
    require_valid_transition(id_, pair.fixed_part, pair.from_, from_, pair.to, to, COUNTING)


def compare(pair: Pair) -> Verdict:
    verdict = of_python(lambda: check_pair(pair))
    assert verdict == HARNESS.valid_transition(*pair), pair
    return verdict


@settings(max_examples=500)
@given(st.randoms(use_true_random=False))
def test_steps_get_the_same_verdict(rng: Random) -> None:
    compare(Generator(rng, DOMAIN, APP).pair())


def test_seeded_steps_get_the_same_verdict_and_meet_every_error() -> None:
    generator = Generator(Random(1), DOMAIN, APP)
    met = Counter(compare(generator.pair()).error for _ in range(6_000))
    assert met.keys() >= {
        "",
        "AllocationCountOutOfRange",
        "TooManyAssets",
        "AssetsNotSorted",
        "ForbiddenDestination",
        "OutcomeTotalOverflow",
        "WrongTotal",
        "AppDataTooLong",
        "FinalStateWithAppData",
        "TurnNumberNotConsecutive",
        "AssetsChanged",
        "TotalChanged",
        "OutcomeChanged",
        "AppDataChanged",
        "FinalStateRequired",
        "WrongCount",
        "MalformedCount",
    }
    assert met[""] > 600


@pytest.mark.long
def test_a_million_random_steps_get_the_same_verdict() -> None:
    generator = Generator(Random(2), DOMAIN, APP)
    met: Counter[str] = Counter()
    for index in range(LONG_PAIRS):
        met[compare(generator.pair()).error] += 1
        if (index + 1) % (LONG_PAIRS // 20) == 0:
            print(f"{index + 1:,} of {LONG_PAIRS:,} steps agree: {dict(met.most_common())}", flush=True)
    assert met.total() == LONG_PAIRS


@settings(max_examples=300)
@given(st.randoms(use_true_random=False))
def test_outcomes_get_the_same_verdict(rng: Random) -> None:
    generator = Generator(rng, DOMAIN, APP)
    fixed = generator.fixed_part()
    id_ = channel_id(fixed, DOMAIN)
    value: Outcome = generator.outcome(max_entries=MAX_ALLOCATIONS)
    for _ in range(rng.randrange(3)):
        value = generator.mutated_outcome(fixed, value)
    twin = of_python(lambda: require_valid_outcome(value, id_, DOMAIN.adjudicator, fixed.asset, fixed.total))
    assert twin == HARNESS.valid_outcome(id_, fixed, value)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_the_first_line_that_applies_decides(count: int) -> None:
    """Every combination of setup or game, finality, and what has changed."""
    fixed = fixed_part(players(count), app=APP)
    before, number = outcome(3, 4), 7
    choices = product((False, True), repeat=4)
    for turn, (final_from, final_to, same_outcome, same_data) in product(range(2 * count + 2), choices):
        after = before if same_outcome else outcome(4, 3)
        next_number = number if same_data else number + 1
        from_ = VariablePart(before, b"" if final_from else word(number), turn, final_from)
        compare(Pair(fixed, from_, VariablePart(after, b"" if final_to else word(next_number), turn + 1, final_to)))


@pytest.mark.parametrize(("from_turn", "to_turn"), [(UINT48_MAX, 0), (UINT48_MAX, UINT48_MAX), (5, 5), (5, 4), (5, 7)])
def test_turns_that_do_not_follow_are_refused(from_turn: int, to_turn: int) -> None:
    verdict = compare(Pair(fixed_part(app=APP), state(from_turn), state(to_turn)))
    assert verdict == ("TurnNumberNotConsecutive", (from_turn, to_turn))


def test_the_highest_turn_is_reached() -> None:
    assert compare(Pair(fixed_part(app=APP), *chain(UINT48_MAX - 1, UINT48_MAX))) == ALLOWED


def test_a_final_state_may_follow_any_state() -> None:
    for turn in range(12):
        assert compare(Pair(fixed_part(app=APP), state(turn), final(turn + 1))) == ALLOWED


# ------------------------------------------------------------------------------------------------- other apps


@pytest.mark.parametrize(("app", "error"), [("PermissiveApp", ""), ("RefusingApp", "TransitionRefused")])
def test_what_the_app_says_decides_on_a_move(app: str, error: str) -> None:
    pair = Pair(fixed_part(app=HARNESS.app(app)), state(10), state(11, outcome(20, 0)))
    assert HARNESS.valid_transition(*pair).error == error


def test_no_app_can_change_a_total() -> None:
    pair = Pair(fixed_part(app=HARNESS.app("PermissiveApp")), state(10), state(11, outcome(20, 1)))
    assert HARNESS.valid_transition(*pair) == ("TotalChanged", (ZERO_ADDRESS, 20, 21))


@pytest.mark.parametrize("app", ["GarbageApp", "ShortApp", ""])
def test_an_answer_that_is_not_true_is_refused(app: str) -> None:
    address = HARNESS.app(app) if app else bytes(19) + b"\xee"
    assert HARNESS.valid_transition(fixed_part(app=address), state(10), state(11)) == ("TransitionRefused", ())


# ------------------------------------------------------------------------------------------------- fixed parts


def encoded_fixed_part(participants: tuple[bytes, ...], duration: int, total: int = 0) -> abi.Tail:
    """Also where the types refuse it."""
    return abi.Tail(
        abi.arguments(
            abi.Tail(b"".join((word(len(participants)), *map(abi.address, participants)))),
            word(0),
            abi.address(APP),
            word(duration),
            abi.address(ETHER),
            word(total),
        )
    )


ALICE, BOB, CAROL = (key.address for key in players(3))
MANY = tuple(key.address for key in players(MAX_PARTICIPANTS + 1))


@pytest.mark.parametrize(
    "participants",
    [
        (),
        (ALICE,),
        (ALICE, BOB),
        MANY[:MAX_PARTICIPANTS],
        MANY,
        (ALICE, ZERO_ADDRESS),
        (ZERO_ADDRESS, BOB),
        (ALICE, BOB, ALICE),
        (ALICE, BOB, CAROL, CAROL, BOB),
        (ALICE, ALICE, ZERO_ADDRESS),
    ],
    ids=len,
)
@pytest.mark.parametrize("duration", [0, 59, 60, 31_536_000, 31_536_001, UINT48_MAX])
def test_fixed_parts_get_the_same_verdict(participants: tuple[bytes, ...], duration: int) -> None:
    twin = of_python(lambda: FixedPart(participants, 0, APP, duration))
    assert twin == HARNESS.verdict("requireValidFixedPart", encoded_fixed_part(participants, duration))


@pytest.mark.parametrize("total", [0, 1, 2**253 - 1, 2**253, UINT256_MAX])
@pytest.mark.parametrize("duration", [59, 60])
def test_totals_get_the_same_verdict(total: int, duration: int) -> None:
    twin = of_python(lambda: FixedPart((ALICE, BOB), 0, APP, duration, ETHER, total))
    assert twin == HARNESS.verdict("requireValidFixedPart", encoded_fixed_part((ALICE, BOB), duration, total))
