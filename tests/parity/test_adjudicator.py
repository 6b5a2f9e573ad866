"""Whole operations: the deployed adjudicator and its pure model do the same, error values, logs and storage included.

`World` does the comparing; what is left to these tests is to get everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.contracts import artifact
from forcemove.protocol.logs import Log
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS
from tests.parity.core_actor import OPERATIONS, Actor
from tests.parity.core_tester import EthTesterChain
from tests.parity.core_world import PEOPLE, World

STEPS = 40
NOT_MET_HERE = {
    # Fixed parts and states that do not exist in Python, or not in these channels: test_core.py.
    "ParticipantCountOutOfRange",
    "ZeroParticipant",
    "DuplicateParticipant",
    "ChallengeDurationOutOfRange",
    "TotalTooHigh",
    "TooManyAssets",
    "AssetsNotSorted",
    "ForbiddenDestination",
    "OutcomeTotalOverflow",
    "AppDataTooLong",
    "AssetsChanged",
    "TotalChanged",
    # Calldata has turns in a row: test_core.py.
    "TurnNumberNotConsecutive",
    # What no history comes to by chance: tests/invariants/test_full_channels.py.
    "WrongTotal",
    "TurnNumberTooHigh",
    "TimeTooLate",
    # Signatures that no key makes: test_hashing.py.
    "SignatureMalleable",
    "SignatureUnrecoverable",
    # Other apps, gas and re-entrance: tests/invariants.
    "TransitionRefused",
    "NotEnoughGasToPush",
    "ReentrancyGuardReentrantCall",
}


def play(rng: Random, steps: int = STEPS, world: World | None = None) -> Counter[str]:
    """One history; how often each error was met."""
    world = world or World()
    if rng.random() < 0.5:
        world.blacklist(rng.choice(PEOPLE).address)
    actor = Actor(rng, world)
    return Counter(actor.step().error for _ in range(steps))


def test_every_function_that_changes_the_adjudicator_is_in_the_histories() -> None:
    functions = [each for each in artifact("Adjudicator").abi if each["type"] == "function"]
    changing = {each["name"] for each in functions if each["stateMutability"] in ("nonpayable", "payable")}
    assert {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in changing} == set(OPERATIONS)


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_random_histories_are_the_same(rng: Random) -> None:
    play(rng)


def test_seeded_histories_are_the_same_and_meet_every_error_and_log() -> None:
    met, logged = Counter[str](), set[type[Log]]()
    for seed in range(240):
        world = World()
        met += play(Random(seed), world=world)
        logged |= world.kinds_logged
    assert ADJUDICATOR_ERRORS.keys() - met.keys() <= NOT_MET_HERE
    assert set(get_args(Log)) - logged == set()
    assert met[""] > met.total() / 4


def test_a_history_on_eth_tester_is_the_same() -> None:
    """Another EVM, with blocks and signed transactions."""
    met = play(Random(3), world=World(EthTesterChain()))
    assert met[""] > STEPS / 5


@pytest.mark.long
def test_ten_thousand_histories_are_the_same() -> None:
    met: Counter[str] = Counter()
    for seed in range(10_000):
        met += play(Random(seed + 1_000))
        if (seed + 1) % 500 == 0:
            print(f"{seed + 1:,} histories agree: {dict(met.most_common())}", flush=True)
    assert ADJUDICATOR_ERRORS.keys() - met.keys() <= NOT_MET_HERE
