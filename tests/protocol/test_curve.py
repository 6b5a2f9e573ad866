"""The curve, compared with arithmetic in plain Python that knows no C library. Whatever computes it must pass this."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from eth_keys import constants
from eth_keys.backends.native import ecdsa as plain

from forcemove import keccak256
from forcemove.protocol import curve

G = curve.public_key((1).to_bytes(32, "big"))
CHANCE = random.Random("curve")
SECRETS = [1, 2, curve.ORDER - 1, *(CHANCE.randrange(1, curve.ORDER) for _ in range(20))]
NO_POINT = b"\x02" + (5).to_bytes(32, "big")
"""No y belongs to this x."""


def scalar(number: int) -> bytes:
    return number.to_bytes(32, "big")


def plain_point(number: int) -> bytes:
    return b"\x04" + plain.private_key_to_public_key(scalar(number % curve.ORDER))


def test_the_numbers_are_those_of_the_curve() -> None:
    assert (curve.FIELD, curve.ORDER) == (constants.SECPK1_P, constants.SECPK1_N)


@pytest.mark.parametrize("secret", SECRETS)
def test_points_are_those_of_plain_arithmetic(secret: int) -> None:
    point, by = curve.public_key(scalar(secret)), SECRETS[-1]
    multiple = curve.multiply(point, scalar(by))
    assert curve.uncompressed(point) == plain_point(secret) == curve.uncompressed(curve.multiply(G, scalar(secret)))
    assert curve.uncompressed(multiple) == plain_point(secret * by)
    assert curve.uncompressed(curve.add([point, multiple, G])) == plain_point(secret * by + secret + 1)


@pytest.mark.parametrize("secret", SECRETS)
def test_bytes_of_both_forms_are_parsed(secret: int) -> None:
    whole = plain_point(secret)
    short = bytes((2 + whole[64] % 2,)) + whole[1:33]
    for data in (whole, short):
        point = curve.parse(data)
        assert (curve.uncompressed(point), curve.compressed(point)) == (whole, short)


@pytest.mark.parametrize("secret", SECRETS)
def test_signatures_are_those_of_plain_arithmetic(secret: int) -> None:
    digest = keccak256(scalar(secret))
    parity, r, s = plain.ecdsa_raw_sign(digest, scalar(secret))
    signature = curve.signer(scalar(secret))(digest)
    assert signature == scalar(r) + scalar(s) + bytes((parity,))
    assert curve.uncompressed(curve.recover(signature, digest)) == plain_point(secret)


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: curve.public_key(bytes(32)),
        lambda: curve.public_key(scalar(curve.ORDER)),
        lambda: curve.signer(bytes(32)),
        lambda: curve.signer(scalar(curve.ORDER)),
        lambda: curve.signer(scalar(1))(bytes(31)),
        lambda: curve.parse(b""),
        lambda: curve.parse(NO_POINT),
        lambda: curve.parse(b"\x04" + scalar(1) + scalar(1)),
        lambda: curve.parse(b"\x02" + scalar(curve.FIELD + 1)),
        lambda: curve.multiply(G, bytes(32)),
        lambda: curve.multiply(G, scalar(curve.ORDER)),
        lambda: curve.add([]),
        lambda: curve.add([G, curve.public_key(scalar(curve.ORDER - 1))]),
        lambda: curve.recover(bytes(65), bytes(32)),
        lambda: curve.recover(scalar(curve.ORDER) + scalar(1) + b"\0", bytes(32)),
        lambda: curve.recover(scalar(1) + scalar(curve.ORDER) + b"\0", bytes(32)),
        lambda: curve.recover(scalar(5) + scalar(1) + b"\0", bytes(32)),
    ],
)
def test_what_has_no_result_raises_a_value_error(impossible: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        impossible()
