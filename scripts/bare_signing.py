"""What signing and verifying take at least: libsecp256k1's own operations, through coincurve, with which others are
compared."""

from __future__ import annotations

from coincurve import PrivateKey, PublicKey

from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import Signature

__all__ = ["bare_recover", "bare_sign", "recoverable"]


def bare_sign(key: PrivateKey, ready: bytes) -> bytes:
    """A signature of a ready hash (32 bytes)."""
    return key.sign_recoverable(ready, hasher=None)


def bare_recover(ready: bytes, signature: bytes) -> bytes:
    """The address whose signature this is, in the form of `recoverable`."""
    return keccak256(PublicKey.from_signature_and_message(signature, ready, hasher=None).format(compressed=False)[1:])[
        12:
    ]


def recoverable(signature: Signature) -> bytes:
    """A signature as libsecp256k1 takes it: the parity in a byte of its own."""
    compact = signature.compact
    return compact[:32] + bytes((compact[32] & 0x7F,)) + compact[33:] + bytes((compact[32] >> 7,))
