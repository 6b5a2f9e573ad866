"""Whole operations: the deployed adjudicator and its pure model do the same, error values, logs and storage included.

`World` does the comparing; what is left to these tests is to get everywhere.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS
from tests.parity.core_actor import Actor
from tests.parity.core_tester import EthTesterChain
from tests.parity.core_world import PEOPLE, World

STEPS = 40
NOT_MET_HERE = {
    # Fixed parts and states that do not exist in Python, or not in these channels: test_core.py.
    "ParticipantCountOutOfRange",
    "ZeroParticipant",
    "DuplicateParticipant",
    "ChallengeDurationOutOfRange",
    "TooManyAssets",
    "AssetsNotSorted",
    "ForbiddenDestination",
    "OutcomeTotalOverflow",
    "AppDataTooLong",
    "AssetsChanged",
    "TotalChanged",
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


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_random_histories_are_the_same(rng: Random) -> None:
    play(rng)


def test_seeded_histories_are_the_same_and_meet_every_error() -> None:
    met = sum((play(Random(seed)) for seed in range(160)), Counter[str]())
    assert ADJUDICATOR_ERRORS.keys() - met.keys() <= NOT_MET_HERE
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
