"""Packed calldata: the bytecode and the Python reader find the same bytes meaningless, at the same places."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove.protocol.codec.packed import SELECTORS, Call
from forcemove.protocol.codec.packed_reader import decode_call
from forcemove.protocol.rule_errors import LengthMismatch, NotCanonical, NotInABatch, StateCountOutOfRange
from tests.parity.core_chain import Chain
from tests.parity.core_verdict import ALLOWED, Verdict, of_bytecode, of_python
from tests.protocol.builders import ALICE
from tests.protocol.calls import calls, write

CHAIN = Chain()
ADJUDICATOR = CHAIN.deploy("Adjudicator")
FORMAT = {error.__name__ for error in (NotCanonical, LengthMismatch, NotInABatch, StateCountOutOfRange)}


def compare(data: bytes) -> bool:
    """Whether the bytes mean something to both; fails where they do to one. Nothing is recorded, so that both refuse a
    fixed part that no channel can have."""
    verdict, expected = sent(data), of_python(lambda: decode_call(data))
    if expected == ALLOWED:
        assert verdict.error not in FORMAT, (verdict, data.hex())
    else:
        assert verdict == expected, data.hex()
    return expected == ALLOWED


def sent(data: bytes) -> Verdict:
    receipt = CHAIN.transact(ALICE.address, ADJUDICATOR, data)
    return of_bytecode(receipt.success, receipt.output)


@settings(max_examples=100)
@given(calls)
def test_what_is_written_means_something(call: Call) -> None:
    assert compare(write(call))


def compare_mutations(call: Call, seed: int) -> int:
    """Compare a call with each byte changed, and cut before each byte; returns how many that were."""
    written, rng = write(call), random.Random(seed)
    for at in range(4, len(written)):
        changed = bytearray(written)
        changed[at] ^= rng.choice((1, 2, 0x40, 0x80, rng.randrange(1, 256)))
        compare(bytes(changed))
        compare(written[:at])
    return 2 * (len(written) - 4)


@pytest.mark.parametrize("least", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_each_byte_changed_and_each_end_cut(least: int) -> None:
    count = 0

    @settings(max_examples=least // 200)
    @given(calls, st.integers(0, 2**32))
    def compare_some(call: Call, seed: int) -> None:
        nonlocal count
        count += compare_mutations(call, seed)

    compare_some()
    assert count >= least


@settings(max_examples=50)
@given(calls, st.binary(min_size=1, max_size=65))
def test_something_more(call: Call, more: bytes) -> None:
    compare(write(call) + more)


@settings(max_examples=500)
@given(st.sampled_from(sorted(SELECTORS.values())), st.binary(max_size=300))
def test_any_bytes(selector: bytes, data: bytes) -> None:
    compare(selector + data)


def test_a_difference_is_seen() -> None:
    assert sent(SELECTORS["checkpoint"] + b"\x10") == ("NotCanonical", (4,))
