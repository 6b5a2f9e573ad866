"""The curve secp256k1 (SEC 2), through libsecp256k1: the one module that knows by which library this is done.

Secrets and scalars are 32 bytes, from 1 to `ORDER` less 1. A point has the form that the library computes with, since
its bytes, made and parsed again for each sum, would make a shuffle's proof a tenth slower. Infinity is none: what would
come to it raises `ValueError`, as everything does that has no result. Knows no signed state, no address and no card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from coincurve import PrivateKey, PublicKey

FIELD = 2**256 - 2**32 - 977
"""The prime of the coordinates, p."""
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The order of the group, n: a prime. Every point but infinity has it."""
LibraryPoint: TypeAlias = PublicKey
"""A point as the library has it. It is made, used and turned into bytes by these functions alone."""


def public_key(secret: bytes) -> LibraryPoint:
    """The multiple of the generator, faster than `multiply`."""
    return PublicKey.from_valid_secret(secret)


def signer(secret: bytes) -> Callable[[bytes], bytes]:
    """What signs 32-byte digests with a secret: r, s and a byte that is 1 where the commitment's y is odd, 65 bytes.

    The s is low, and the nonce follows from secret and digest (RFC 6979). A function, since libsecp256k1's form of a
    secret takes as long to make as a signature.
    """
    return partial(PrivateKey(secret).sign_recoverable, hasher=None)


def recover(signature: bytes, digest: bytes) -> LibraryPoint:
    """The public key by which `signature`, in the form of `signer`, is one of the 32-byte digest."""
    return PublicKey.from_signature_and_message(signature, digest, hasher=None)


def parse(data: bytes) -> LibraryPoint:
    """The point of SEC 1's 33 or 65 bytes."""
    return PublicKey(data)


def compressed(point: LibraryPoint) -> bytes:
    """The 33 bytes of SEC 1."""
    return point.format()


def uncompressed(point: LibraryPoint) -> bytes:
    """The 65 bytes of SEC 1."""
    return point.format(compressed=False)


def multiply(point: LibraryPoint, scalar: bytes) -> LibraryPoint:
    """A multiple of any point. It does not take the same time for every scalar."""
    return point.multiply(scalar)


def add(points: Sequence[LibraryPoint]) -> LibraryPoint:
    """The sum."""
    if not points:
        raise ValueError("no points have no sum")  # libsecp256k1 would end the process
    return PublicKey.combine_keys(list(points))
