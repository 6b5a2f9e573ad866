"""Who has signed what, and for which channel: rows 4, 5, 7 and 9 of the list of attacks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import Adjudicator, Domain, Key, channel_id, keccak256, word
from forcemove.chain.local import AnvilChain, connect
from forcemove.protocol.codec.packed_writer import checkpoint_call, conclude_call
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.protocol.types import UINT256_MAX, FixedPart, Signature
from tests.chain.world import World, make_world
from tests.parity import core_abi as abi
from tests.parity.core_harness import CHAIN_ID, Harness
from tests.parity.core_verdict import of_bytecode
from tests.protocol import builders
from tests.threats.court import ALLOWED, Court

A, B, M = builders.ALICE.address, builders.BOB.address, builders.MALLORY.address
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


# ---------------------------------------------------------------------------------------------------------------- 4


def test_threat_04_an_outsider_with_leaked_states_cannot_challenge(court: Court, channel: FixedPart) -> None:
    leaked = court.proof(channel, *builders.chain(10, 11))
    own = court.sign_challenge(builders.MALLORY, builders.state(11), channel)
    assert court.challenge(M, channel, leaked) == ("ChallengerNotParticipant", (M,))
    assert court.challenge(M, channel, leaked, own) == ("ChallengerNotParticipant", (M,))
    assert court.status(channel).is_empty


def test_threat_04_nor_with_the_recorded_state(court: Court, channel: FixedPart) -> None:
    """Which needs no proof: here nothing but the challenger is checked."""
    assert court.checkpoint_with(channel, *builders.chain(10, 11)) == ALLOWED
    assert court.restate(channel, builders.state(11), by=builders.MALLORY) == ("ChallengerNotParticipant", (M,))
    assert court.restate(channel, builders.state(11), by=builders.BOB) == ALLOWED


@pytest.mark.parametrize("signer", builders.PLAYERS, ids=["alice", "bob"])
def test_threat_04_the_signature_of_a_state_is_no_challenge(court: Court, channel: FixedPart, signer: Key) -> None:
    leaked = court.proof(channel, *builders.chain(10, 11))
    for signed in builders.chain(10, 11):
        verdict = court.challenge(M, channel, leaked, court.sign(signer, signed, channel))
        assert verdict.error == "ChallengerNotParticipant"


def test_threat_04_a_challenge_signature_serves_for_one_state_of_one_channel(court: Court, channel: FixedPart) -> None:
    leaked = court.proof(channel, *builders.chain(10, 11))
    reused = (
        court.sign_challenge(builders.ALICE, builders.state(9), channel),
        court.sign_challenge(builders.ALICE, builders.state(11, builders.outcome(15, 5)), channel),
        court.sign_challenge(builders.ALICE, builders.state(11), court.channel(nonce=1)),
    )
    for signature in reused:
        assert court.challenge(M, channel, leaked, signature).error == "ChallengerNotParticipant"
    signature = court.sign_challenge(builders.ALICE, builders.state(11), channel)
    assert court.challenge(M, channel, leaked, signature) == ALLOWED
    assert court.respond_with(channel, builders.state(11), builders.state(12)) == ALLOWED
    assert court.challenge(M, channel, leaked, signature) == ("TurnNumberNotIncreased", (12, 11))


# ---------------------------------------------------------------------------------------------------------------- 5


def test_threat_05_concluding_takes_the_signature_of_everybody(court: Court, channel: FixedPart) -> None:
    court.fund(channel)
    last = builders.final(14, builders.outcome(20, 0))
    alice, bob = court.sign_all(last, channel)
    mallory = court.sign(builders.MALLORY, last, channel)
    for signatures, error in (
        ((alice, alice), "WrongSigner"),
        ((alice, mallory), "WrongSigner"),
        ((mallory, bob), "WrongSigner"),
        ((bob, alice), "WrongSigner"),
        ((alice, builders.NO_SIGNATURE), "SignatureUnrecoverable"),
    ):
        assert court.conclude(A, channel, last.outcome, 14, signatures).error == error
    data = conclude_call(channel, last.outcome, 14, (alice, bob), 7)
    signed, push = data[:-1], data[-1:]
    for given in (signed[:-128], signed[:-64], signed + mallory.compact):
        assert court.packed(A, given + push).error == "LengthMismatch"
    assert court.held(court.id_of(channel)) == 20
    assert court.conclude(A, channel, last.outcome, 14, (alice, bob)) == ALLOWED


def test_threat_05_what_is_not_final_does_not_conclude(court: Court, channel: FixedPart) -> None:
    """Nor does a final state of another turn or outcome, nor a challenge."""
    court.fund(channel)
    last = builders.final(14)
    others = (
        replace(last, is_final=False),
        builders.state(14),
        builders.final(13),
        builders.final(14, builders.outcome(20, 0)),
        builders.final(14, builders.outcome(10, 10, to=(builders.BOB, builders.ALICE))),
    )
    for other in others:
        verdict = court.conclude(A, channel, last.outcome, 14, court.sign_all(other, channel))
        assert verdict.error == "WrongSigner"
    challenges = tuple(court.sign_challenge(key, last, channel) for key in builders.PLAYERS)
    assert court.conclude(A, channel, last.outcome, 14, challenges).error == "WrongSigner"


# ---------------------------------------------------------------------------------------------------------------- 7


def test_threat_07_signatures_for_another_chain_or_adjudicator_are_worth_nothing(
    court: Court, channel: FixedPart
) -> None:
    second = court.chain.deploy("Adjudicator")
    for domain in (Domain(CHAIN_ID + 1, court.adjudicator), Domain(CHAIN_ID, second)):
        foreign = builders.proof(*builders.chain(10, 11), fixed=channel, domain=domain)
        assert court.challenge(A, channel, foreign).error == "WrongSigner"
        assert court.checkpoint(A, channel, foreign).error == "WrongSigner"
        signatures = builders.sign_all(builders.final(14), fixed=channel, domain=domain)
        assert court.conclude(A, channel, builders.final(14).outcome, 14, signatures).error == "WrongSigner"
    assert court.challenge_with(channel, *builders.chain(10, 11)) == ALLOWED
    elsewhere = builders.sign(builders.ALICE, builders.state(12), channel, Domain(CHAIN_ID, second))
    assert court.respond(A, channel, builders.state(11), builders.state(12), elsewhere).error == "WrongSigner"


def test_threat_07_the_id_of_a_channel_differs_from_deployment_to_deployment(court: Court) -> None:
    """So that money paid into it on one chain is not held on another under the same name."""
    fixed = builders.fixed_part(app=court.app)
    ids = {channel_id(fixed, Domain(id_, at)) for id_ in (1, 2) for at in (court.adjudicator, court.app)}
    assert len(ids) == 4


def test_threat_07_after_a_fork_the_signatures_of_the_old_chain_are_worth_nothing() -> None:
    """The same contract, at the same address, on a chain that has taken another id."""
    with AnvilChain() as before:
        world = make_world(before)
        before.rpc.ask("anvil_setChainId", before.chain_id + 1)
        with connect(before.endpoint) as after:
            forked = World(after, Adjudicator(after, world.adjudicator.address), world.app)
            fixed = world.channel()
            with pytest.raises(WrongSigner):
                forked.adjudicator.send(
                    forked.adjudicator.challenge(fixed, world.proof(fixed, builders.state(11))), builders.ALICE
                )
            assert forked.challenge(fixed, builders.state(11)).logs


# ---------------------------------------------------------------------------------------------------------------- 9

HARNESS = Harness()
DIGEST = keccak256(b"chosen by anyone who attacks")


def compact(r: int, s: int, parity: int = 0) -> Signature:
    return Signature(word(r) + word(s | parity << 255))


def twins(s: int) -> tuple[bytes, Signature, Signature]:
    """A digest for which `s` is one half of a signature of Alice's, with that signature and its twin of the other s.

    The digest is chosen last: s * k - r * d for the nonce k = 1.
    """
    r = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798  # the generator's x; its y is even
    secret = int.from_bytes(builders.ALICE.secret, "big")
    digest = word((s - r * secret) % ORDER)
    return digest, compact(r, s, 0), compact(r, ORDER - s, 1)


@pytest.mark.parametrize("above_half", [1, 2, 2**64, 2**126])
def test_threat_09_the_high_s_twin_is_refused(above_half: int) -> None:
    """Those that fit into 255 bits at all: s in (n/2, 2**255)."""
    high = ORDER // 2 + above_half
    assert high < 2**255
    digest, twin, signature = twins(high)
    assert HARNESS.recover(digest, signature) == (True, bytes(12) + A)
    verdict = of_bytecode(*HARNESS.recover(digest, twin))
    assert verdict == ("SignatureMalleable", (word(high),))


def test_threat_09_half_the_order_itself_is_low() -> None:
    digest, signature, _ = twins(ORDER // 2)
    assert HARNESS.recover(digest, signature) == (True, bytes(12) + A)


@pytest.mark.parametrize(
    "signature",
    [
        builders.NO_SIGNATURE,
        compact(0, 1),
        compact(1, 0),
        compact(0, 0, parity=1),
        compact(5, 1),
        compact(ORDER, 1),
        compact(UINT256_MAX, 1),
    ],
    ids=["nothing", "r zero", "s zero", "parity alone", "no such point", "r the order", "r too large"],
)
def test_threat_09_nobody_is_recovered_from_rubbish(signature: Signature) -> None:
    """Least of all the zero address: it would sign where nobody checks."""
    for expected in (bytes(20), A):
        verdict = HARNESS.verdict("requireSigner", DIGEST, abi.text(signature.compact), abi.address(expected))
        assert verdict == ("SignatureUnrecoverable", ())


@pytest.mark.parametrize("missing", [1, 32, 33, 63, 64])
def test_threat_09_a_signature_of_another_length_is_no_calldata(court: Court, channel: FixedPart, missing: int) -> None:
    data = checkpoint_call(channel, court.proof(channel, builders.state(11)))
    assert court.packed(A, data[:-missing]) == ("LengthMismatch", (len(data), len(data) - missing))
    assert court.packed(A, data + bytes(missing)) == ("LengthMismatch", (len(data), len(data) + missing))


def test_threat_09_one_signer_counts_once(court: Court, channel: FixedPart) -> None:
    good = court.proof(channel, builders.state(11))
    alice, bob = good.signatures
    for signatures, error in (
        ((alice, alice), ("WrongSigner", (B, A))),
        ((bob, bob), ("WrongSigner", (A, B))),
        ((alice, builders.NO_SIGNATURE), ("SignatureUnrecoverable", ())),
    ):
        assert court.challenge(A, channel, replace(good, signatures=signatures)) == error
        assert court.checkpoint(A, channel, replace(good, signatures=signatures)) == error


def test_threat_09_everybody_signs_its_own_turn_or_a_later_one(court: Court, channel: FixedPart) -> None:
    """Bob's move is state 11: his signature of state 10 alone does not bind him to it."""
    early = court.proof(channel, *builders.chain(10, 11), pattern=(0, 0))
    assert court.challenge(A, channel, early) == ("SignedStateOutOfRange", (1, 0))
    one = replace(early, signatures=early.signatures[:1])
    assert court.challenge(A, channel, one).error == "FingerprintMismatch", "a proof from the record, and none is there"
