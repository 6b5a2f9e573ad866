"""Keys and recovery. What the chain makes of odd signatures, tests/parity/test_hashing.py compares."""

from __future__ import annotations

import pickle

import pytest
from coincurve import PublicKey
from eth_account import Account

from forcemove import InvalidValue, keccak256
from forcemove.protocol import rule_errors, signing, types
from forcemove.protocol.curve import ORDER
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB, NO_SIGNATURE, sign, state

DIGEST = keccak256(b"digest")


def test_a_golden_signature() -> None:
    """Deterministic (RFC 6979): the same state is signed the same."""
    expected = (
        "56e933b7ef29b538a3c9b18fda033e22b6a00e25a633da1a9309e8fa0bc63a84"
        "ef481beac83f86c7cfd38126a4beedfb11d829b2db84e63d26c48ccf8c380305"
    )
    assert sign(ALICE, state()).compact.hex() == expected


def test_an_address_is_the_end_of_the_hash_of_the_public_key() -> None:
    assert ALICE.address.hex() == "328809bc894f92807417d2dad6b7c998c1afdac6"
    assert Account.from_key(ALICE.secret).address.lower() == "0x" + ALICE.address.hex()


def test_both_parities_of_y_occur_and_recover() -> None:
    parities = set()
    for number in range(20):
        digest = keccak256(bytes((number,)))
        signature = ALICE.sign(digest)
        parities.add(signature.compact[32] >> 7)
        assert signing.recover(digest, signature) == ALICE.address
    assert parities == {0, 1}


def test_s_is_low() -> None:
    for number in range(50):
        vs = int.from_bytes(ALICE.sign(keccak256(bytes((number,)))).vs, "big")
        assert vs & (2**255 - 1) <= signing.HALF_ORDER


def test_another_signer_is_named() -> None:
    with raising(rule_errors.WrongSigner(ALICE.address, BOB.address)):
        signing.require_signer(DIGEST, BOB.sign(DIGEST), ALICE.address)


def test_another_digest_recovers_to_somebody_else() -> None:
    with pytest.raises(rule_errors.WrongSigner):
        signing.require_signer(keccak256(b"another"), ALICE.sign(DIGEST), ALICE.address)


def test_a_high_s_is_refused() -> None:
    s = (signing.HALF_ORDER + 1).to_bytes(32, "big")
    with raising(rule_errors.SignatureMalleable(s)):
        signing.recover(DIGEST, types.Signature(ALICE.sign(DIGEST).r + s))


@pytest.mark.parametrize("r", [0, ORDER, 2**256 - 1])
def test_an_impossible_r_recovers_nobody(r: int) -> None:
    with pytest.raises(rule_errors.SignatureUnrecoverable):
        signing.recover(DIGEST, types.Signature(r.to_bytes(32, "big") + ALICE.sign(DIGEST).vs))


def test_no_signature_recovers_nobody() -> None:
    with pytest.raises(rule_errors.SignatureUnrecoverable):
        signing.recover(DIGEST, NO_SIGNATURE)


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33), bytes(32), ORDER.to_bytes(32, "big"), "a" * 32])
def test_a_secret_that_is_no_key_is_refused_and_not_shown(secret: bytes) -> None:
    with pytest.raises(InvalidValue) as caught:
        signing.Key(secret)
    assert caught.value.value == "(hidden)"


@pytest.mark.parametrize("secret", [1, ORDER - 1])
def test_the_bounds_on_secrets_are_included(secret: int) -> None:
    assert len(signing.Key(secret.to_bytes(32, "big")).address) == 20


def test_a_key_shows_its_address_only() -> None:
    shown = repr(ALICE) + str(ALICE)
    assert ALICE.address.hex() in shown
    assert ALICE.secret.hex() not in shown


def test_a_key_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(ALICE)


def test_libsecp256k1_agrees_on_the_public_key() -> None:
    public_key = PublicKey.from_valid_secret(ALICE.secret).format(compressed=False)
    assert keccak256(public_key[1:])[12:] == ALICE.address
