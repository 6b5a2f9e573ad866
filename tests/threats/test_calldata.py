"""What packed calldata cannot be made to say: bytes that nobody reads, outcomes and positions out of nowhere, evidence
that is hidden, and operations in the contract's own name."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import VariablePart, keccak256, word
from forcemove.protocol.codec.packed import ETHER_BIT, SELECTORS
from forcemove.protocol.codec.packed_writer import (
    batch_call,
    challenge_call,
    checkpoint_call,
    conclude_call,
    respond_call,
    transfer_call,
)
from forcemove.protocol.types import ETHER, FixedPart
from tests.evm import function_selector
from tests.parity import core_abi as abi
from tests.parity.core_world import BATCH_FAILED
from tests.protocol.builders import ALICE, BOB, MALLORY, chain, final, state
from tests.threats.court import ALLOWED, Court

A, M = ALICE.address, MALLORY.address
EVIDENCE = b"e" * 32
SIZED = len(EVIDENCE).to_bytes(2) + EVIDENCE
EVIDENCE_FLAGS = 8 | 16
"""Of a state: its evidence is given by its hash, or follows."""


# --------------------------------------------------------------------------------------------- bytes that nobody reads


def test_threat_26_nothing_is_smuggled_behind_what_is_read(court: Court, channel: FixedPart) -> None:
    """What others read in a log would be another operation than the contract's."""
    recorded, next_, last = state(11), state(12), final(14)
    proof, signatures = court.proof(channel, recorded), court.sign_all(last, channel)
    calls = (
        challenge_call(channel, proof, court.sign_challenge(ALICE, recorded, channel)),
        checkpoint_call(channel, proof),
        respond_call(channel, recorded, next_, court.sign(ALICE, next_, channel)),
        conclude_call(channel, last.outcome, 14, signatures, 7),
        transfer_call(court.id_of(channel), ETHER, bytes(32), last.outcome, (0,), 7),
    )
    for data in calls:
        for given in (data[:-1], data + b"\0"):
            assert court.packed(A, given) == ("LengthMismatch", (len(data), len(given)))
        assert court.packed(A, data).error != "LengthMismatch"


@pytest.mark.parametrize("bit", [0x20, 0x40, 0x80])
def test_threat_26_a_state_has_no_spare_flags(court: Court, channel: FixedPart, bit: int) -> None:
    """The contract records nothing that clients cannot read in its log."""
    data, at = checkpoint_call(channel, court.proof(channel, state(11))), court.proof_at(channel) + 7
    assert court.packed(A, flagged(data, at, bit)) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


@pytest.mark.parametrize("bit", [0x10, 0x20, 0x40])
def test_threat_26_a_channel_has_no_spare_flags(court: Court, channel: FixedPart, bit: int) -> None:
    data = checkpoint_call(channel, court.proof(channel, state(11)))
    assert data[4] == ETHER_BIT | 2
    assert court.packed(A, flagged(data, 4, bit)) == ("NotCanonical", (4,))
    assert court.packed(A, data) == ALLOWED


def flagged(data: bytes, at: int, bits: int) -> bytes:
    """With these bits turned over in one byte."""
    return data[:at] + bytes((data[at] ^ bits,)) + data[at + 1 :]


# --------------------------------------------------------------------------------------------------- hidden evidence


def with_hidden_evidence(data: bytes, at: int) -> bytes:
    """The evidence of the state whose flags are here, given by its hash alone: and so the same state hash."""
    assert data.count(SIZED) == 1
    return flagged(data, at, EVIDENCE_FLAGS).replace(SIZED, keccak256(EVIDENCE))


def shown(turn: int) -> VariablePart:
    return replace(state(turn), evidence=EVIDENCE)


def test_threat_26_a_response_shows_its_evidence(court: Court, channel: FixedPart) -> None:
    """No app could look at it, nor could the other side in the log."""
    assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ALLOWED
    data = respond_call(channel, state(11), shown(12), court.sign(ALICE, shown(12), channel))
    at = data.index(SIZED) - 4
    assert court.packed(A, with_hidden_evidence(data, at)) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


def test_threat_26_the_last_state_of_a_proof_shows_its_evidence(court: Court, channel: FixedPart) -> None:
    data = checkpoint_call(channel, court.proof(channel, state(10), shown(11)))
    at = data.index(SIZED) - 4
    assert court.packed(A, with_hidden_evidence(data, at)) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


def test_threat_26_nor_does_a_state_hide_it_that_is_alone(court: Court, channel: FixedPart) -> None:
    """It is the last one, too."""
    data, at = checkpoint_call(channel, court.proof(channel, shown(11))), court.proof_at(channel) + 7
    assert court.packed(A, with_hidden_evidence(data, at)) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


@pytest.mark.parametrize("flags", [8 | 16, 8 | 1])
def test_threat_26_evidence_is_hidden_in_one_way_only(court: Court, channel: FixedPart, flags: int) -> None:
    """Not if it follows all the same; nor of a final state, which has none."""
    assert court.challenge_with(channel, state(10), shown(11), by=BOB) == ALLOWED
    data = respond_call(channel, shown(11), state(12), court.sign(ALICE, state(12), channel))
    at = court.proof_at(channel)
    assert data[at] == 8 | 4
    assert court.packed(A, flagged(data, at, data[at] ^ flags)) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


# ------------------------------------------------------------------------------- outcomes and positions out of nowhere

AS_BEFORE_TWICE = bytes((2, 0x81))
"""appData of two words, those of the state before."""
ZERO_TWICE = bytes((1, 0x41))
"""appData of one word: two words of zeros."""


def test_threat_26_no_outcome_is_as_before_where_nothing_was_before(court: Court, channel: FixedPart) -> None:
    """Nobody would check it, and nobody could be paid by it."""
    data, at = checkpoint_call(channel, court.proof(channel, state(11))), court.proof_at(channel) + 7
    assert data[at + 1 : at + 6] == bytes((2, 1, 10, 1, 10))
    given = flagged(data, at, 2)
    assert court.packed(A, given[: at + 1] + given[at + 6 :]) == ("NotCanonical", (at,))
    assert court.packed(A, data) == ALLOWED


@pytest.mark.parametrize("words", [AS_BEFORE_TWICE, ZERO_TWICE])
def test_threat_26_no_more_words_are_taken_than_there_are(court: Court, channel: FixedPart, words: bytes) -> None:
    """Behind those of the state before is what no client knows."""
    assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ALLOWED
    data = respond_call(channel, state(11), state(12), court.sign(ALICE, state(12), channel))
    low = bytes((1, 1, state(12).app_data[-1]))
    assert data[-67:-64] == low
    given = data[:-67] + words + data[-64:]
    assert court.packed(A, given) == ("NotCanonical", (len(data) - 66,))
    assert court.packed(A, data) == ALLOWED


def test_threat_26_no_words_are_as_before_where_nothing_was_before(court: Court, channel: FixedPart) -> None:
    data, signed = checkpoint_call(channel, court.proof(channel, state(11))), 2 * 64
    low = bytes((1, 1, state(11).app_data[-1]))
    assert data[-signed - 3 : -signed] == low
    given = data[: -signed - 3] + AS_BEFORE_TWICE + data[-signed:]
    assert court.packed(A, given) == ("NotCanonical", (len(data) - signed - 2,))
    assert court.packed(A, data) == ALLOWED


# ------------------------------------------------------------------------------------------------------------ batches


def test_threat_15_a_batch_does_nothing_in_the_contracts_name(court: Court, channel: FixedPart) -> None:
    """It would deposit and claim what is the contract's own."""
    nobody = abi.address(ETHER)
    calls = (
        function_selector("Adjudicator", "deposit") + court.id_of(channel) + nobody + word(0) + word(1),
        function_selector("Adjudicator", "claim") + nobody + abi.address(M),
        function_selector("Adjudicator", "payCredit") + abi.address(court.adjudicator) + nobody,
        function_selector("Adjudicator", "statusOf") + court.id_of(channel) + nobody,
        SELECTORS["batch"],
    )
    for data in calls:
        assert court.packed(M, batch_call([(100_000, data)])) == ("NotInABatch", (data[:4],))
    assert court.packed(M, batch_call([(100_000, b"\x12")])) == ("NotInABatch", (bytes(4),))


def test_threat_46_an_operation_that_burns_its_gas_leaves_the_others_theirs(court: Court, channel: FixedPart) -> None:
    """An app of strangers stops nobody whose answer is sent along with its own."""
    burning, gas = court.channel(nonce=1, app=court.chain.deploy("LoopApp")), 400_000
    items = [(gas, by_anybody(court, fixed)) for fixed in (burning, channel)]
    receipt = court.chain.transact(M, court.adjudicator, batch_call(items), gas=3 * gas)
    assert receipt.success
    failures = [log.data for log in receipt.logs if log.topics == (BATCH_FAILED,)]
    assert failures == [word(0) + bytes(32)]
    assert court.record(burning) == 0
    assert court.record(channel) == 11


def test_threat_46_an_operation_that_is_refused_stops_no_other(court: Court, channel: FixedPart) -> None:
    refused = by_anybody(court, channel)[:-1]
    items = [(400_000, data) for data in (refused, by_anybody(court, channel), refused)]
    receipt = court.chain.transact(M, court.adjudicator, batch_call(items))
    assert receipt.success
    places = [log.data[:32] for log in receipt.logs if log.topics == (BATCH_FAILED,)]
    assert places == [word(0), word(2)]
    assert court.record(channel) == 11


def by_anybody(court: Court, fixed: FixedPart) -> bytes:
    """A challenge with state 11 that Alice has signed, and anybody may send."""
    return challenge_call(fixed, court.proof(fixed, *chain(10, 11)), court.sign_challenge(ALICE, state(11), fixed))
