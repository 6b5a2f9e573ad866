"""Hashes are the same bytes however they are made: by the twin, by the contracts' assembly, by plain Solidity, and the
typed ones by eth_account, which knows nothing of this project. So is what an app is asked."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from eth_account.messages import encode_typed_data
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import Allocation, VariablePart, keccak256
from forcemove.protocol import encoding
from forcemove.protocol.curve import ORDER
from forcemove.protocol.encoding import EMPTY_HASH, Domain, channel_id, hash_state, word
from forcemove.protocol.rule_errors import SignatureMalleable, SignatureUnrecoverable, WrongSigner
from forcemove.protocol.rules import without_evidence
from forcemove.protocol.signing import HALF_ORDER, recover, require_signer
from forcemove.protocol.types import UINT48_MAX, UINT256_MAX, Signature
from tests.evm import function_selector
from tests.expected import raising
from tests.parity import core_abi as abi
from tests.parity.core_generate import Generator
from tests.parity.core_harness import Harness
from tests.parity.core_verdict import of_python
from tests.protocol.builders import ALICE, BOB

HARNESS = Harness()
ID = bytes.fromhex("c0" * 32)
DOMAIN = HARNESS.domain
APP = bytes(19) + b"\xaa"

addresses = st.binary(min_size=20, max_size=20)
hashes = st.binary(min_size=32, max_size=32)
turns = st.integers(0, UINT48_MAX)
allocations = st.builds(Allocation, addresses, hashes, st.integers(0, UINT256_MAX))
outcomes = st.lists(allocations, min_size=0, max_size=64).map(tuple)
states = st.builds(VariablePart, outcomes, st.binary(max_size=200), turns, st.booleans(), st.binary(max_size=70))


@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_channel_ids(rng: Random) -> None:
    fixed = Generator(rng, DOMAIN, rng.randbytes(20)).fixed_part()
    assert HARNESS.hashes("channelId", abi.fixed_part(fixed)) == [channel_id(fixed, DOMAIN)] * 2


@settings(max_examples=100)
@given(outcomes)
def test_outcomes(outcome: tuple[Allocation, ...]) -> None:
    assert HARNESS.hashes("outcomeHash", abi.outcome(outcome)) == [encoding.outcome_hash(outcome)] * 2


@settings(max_examples=100)
@given(hashes, states)
def test_states(id_: bytes, state: VariablePart) -> None:
    assert HARNESS.hashes("stateHash", id_, abi.state(state)) == [hash_state(id_, state).state] * 2


@settings(max_examples=100)
@given(hashes, outcomes, turns)
def test_final_states(id_: bytes, outcome: tuple[Allocation, ...], turn: int) -> None:
    hashed = hash_state(id_, VariablePart(outcome, b"", turn, True))
    assert HARNESS.hashes("finalStateHash", id_, hashed.outcome, word(turn)) == [hashed.state] * 2


@settings(max_examples=100)
@given(hashes, turns, hashes)
def test_challenges(id_: bytes, turn: int, state_hash: bytes) -> None:
    assert (
        HARNESS.hashes("challengeHash", id_, word(turn), state_hash)
        == [encoding.challenge_hash(id_, turn, state_hash)] * 2
    )


@settings(max_examples=100)
@given(hashes, hashes)
def test_fingerprints(state_hash: bytes, outcome_hash: bytes) -> None:
    (value,) = HARNESS.hashes("fingerprint", state_hash, outcome_hash)
    assert int.from_bytes(value, "big") == encoding.fingerprint(state_hash, outcome_hash)


def test_the_domain() -> None:
    assert HARNESS.hashes("domainSeparator") == [DOMAIN.separator] * 2


@settings(max_examples=100)
@given(st.integers(0, UINT256_MAX), addresses, hashes)
def test_digests(chain_id: int, adjudicator: bytes, struct_hash: bytes) -> None:
    domain = Domain(chain_id, adjudicator)
    assert HARNESS.hashes("digest", domain.separator, struct_hash) == [encoding.digest(domain, struct_hash)] * 2


def test_an_empty_app_data_has_the_hash_that_conclude_assumes() -> None:
    assert keccak256(b"") == EMPTY_HASH


# ------------------------------------------------------------------------------------------------------ wallets

TYPES = {
    "Allocation": [
        {"name": "asset", "type": "address"},
        {"name": "destination", "type": "bytes32"},
        {"name": "amount", "type": "uint256"},
    ],
    "State": [
        {"name": "channelId", "type": "bytes32"},
        {"name": "outcome", "type": "Allocation[]"},
        {"name": "appData", "type": "bytes"},
        {"name": "evidence", "type": "bytes"},
        {"name": "turnNum", "type": "uint48"},
        {"name": "isFinal", "type": "bool"},
    ],
    "Challenge": [
        {"name": "channelId", "type": "bytes32"},
        {"name": "turnNum", "type": "uint48"},
        {"name": "stateHash", "type": "bytes32"},
    ],
}


def wallet_digest(domain: Domain, type_: str, message: dict[str, Any]) -> bytes:
    """What a wallet would sign."""
    types = {"State": ("State", "Allocation"), "Challenge": ("Challenge",)}[type_]
    shown_domain = {
        "name": "Forcemove",
        "version": "2",
        "chainId": domain.chain_id,
        "verifyingContract": "0x" + domain.adjudicator.hex(),
    }
    signable = encode_typed_data(shown_domain, {name: TYPES[name] for name in types}, message)
    return keccak256(b"\x19" + signable.version + signable.header + signable.body)


@settings(max_examples=50)
@given(hashes, states)
def test_a_wallet_signs_the_same_state(id_: bytes, state: VariablePart) -> None:
    message = {
        "channelId": id_,
        "outcome": [
            {"asset": "0x" + entry.asset.hex(), "destination": entry.destination, "amount": entry.amount}
            for entry in state.outcome
        ],
        "appData": state.app_data,
        "evidence": state.evidence,
        "turnNum": state.turn_num,
        "isFinal": state.is_final,
    }
    assert wallet_digest(DOMAIN, "State", message) == encoding.digest(DOMAIN, hash_state(id_, state).state)


@settings(max_examples=50)
@given(hashes, turns, hashes)
def test_a_wallet_signs_the_same_challenge(id_: bytes, turn: int, state_hash: bytes) -> None:
    message = {"channelId": id_, "turnNum": turn, "stateHash": state_hash}
    struct_hash = encoding.challenge_hash(id_, turn, state_hash)
    assert wallet_digest(DOMAIN, "Challenge", message) == encoding.digest(DOMAIN, struct_hash)


# ------------------------------------------------------------------------------------------------------ recovery

_GOOD = ALICE.sign(keccak256(b"digest"))
_R, _S = _GOOD.r, int.from_bytes(_GOOD.vs, "big") & (2**255 - 1)
_PARITY = _GOOD.compact[32] >> 7
_S_VALUES = [0, 1, _S, HALF_ORDER - 1, HALF_ORDER, HALF_ORDER + 1, ORDER - _S, 2**255 - 1]
_R_VALUES = [bytes(32), word(1), word(5), _R, word(ORDER - 1), word(ORDER), word(ORDER + 1), word(UINT256_MAX)]


def compact(r: bytes, s: int, parity: int) -> Signature:
    return Signature(r + word(s | parity << 255))


@pytest.mark.parametrize("s", _S_VALUES, ids=hex)
@pytest.mark.parametrize("r", _R_VALUES, ids=bytes.hex)
@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("digest", [keccak256(b"digest"), bytes(32), word(ORDER), b"\xff" * 32], ids=bytes.hex)
def test_both_recover_the_same_from_any_signature(s: int, r: bytes, parity: int, digest: bytes) -> None:
    signature = compact(r, s, parity)
    expected = ALICE.address
    twin = of_python(lambda: require_signer(digest, signature, expected))
    assert twin == HARNESS.verdict("requireSigner", digest, abi.text(signature.compact), abi.address(expected))


def zero_point() -> tuple[bytes, Signature]:
    """A digest and a signature that recover to the point at infinity: r R's x, s = 1, the digest R's own multiple."""
    # Signing by hand with nonce 1: R = G, and z = r * d would make the key zero; choose z so that s*R - z*G vanishes.
    gx = bytes.fromhex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    return word(1), compact(gx, 1, 0)


def test_nobody_is_recovered_from_a_signature_of_the_point_at_infinity() -> None:
    digest, signature = zero_point()
    assert of_python(lambda: recover(digest, signature)) == ("SignatureUnrecoverable", ())
    assert HARNESS.verdict("recover", digest, abi.text(signature.compact)) == ("SignatureUnrecoverable", ())


def test_the_high_s_twin_is_refused() -> None:
    digest = keccak256(b"digest")
    # The twin of a low s does not fit into 255 bits with the parity, but s just above half the order does.
    high = compact(_R, HALF_ORDER + 1, _PARITY)
    assert of_python(lambda: recover(digest, high)) == ("SignatureMalleable", (word(HALF_ORDER + 1),))
    assert HARNESS.verdict("recover", digest, abi.text(high.compact)) == of_python(lambda: recover(digest, high))


@settings(max_examples=200)
@given(hashes, st.binary(min_size=64, max_size=64))
def test_random_signatures_recover_alike(digest: bytes, raw: bytes) -> None:
    signature = Signature(raw)
    success, output = HARNESS.recover(digest, signature)
    if success:
        assert recover(digest, signature) == output[12:]
    else:
        assert of_python(lambda: recover(digest, signature)) == HARNESS.verdict(
            "recover", digest, abi.text(signature.compact)
        )


@settings(max_examples=100)
@given(hashes)
def test_what_a_key_signs_recovers_to_it(digest: bytes) -> None:
    signature = BOB.sign(digest)
    assert HARNESS.recover(digest, signature) == (True, bytes(12) + BOB.address)
    with raising(WrongSigner(ALICE.address, BOB.address)):
        require_signer(digest, signature, ALICE.address)


def test_errors_of_recovery_are_different_facts() -> None:
    assert SignatureMalleable(bytes(32)) != SignatureUnrecoverable()


# ---------------------------------------------------------------------------------------------- the question to an app


@settings(max_examples=200)
@given(states, states, st.integers(2, 8))
def test_what_an_app_is_asked(from_: VariablePart, to: VariablePart, count: int) -> None:
    """The bytes of abi.encodeCall."""
    pair = abi.state(from_), abi.state(to)
    success, output = HARNESS.call("moveCall", ID, *pair, word(count))
    assert success
    call = function_selector("CountingApp", "validTransition")
    call += abi.arguments(ID, abi.state(without_evidence(from_)), abi.state(to), word(count))
    assert output == abi.arguments(abi.text(call), abi.text(call))
