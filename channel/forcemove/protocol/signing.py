"""Signatures: compact ECDSA (EIP-2098) over EIP-712 digests. Knows no state and no channel.

Signing is deterministic (RFC 6979), so that it may happen inside the pure core: the same state gives the same bytes.
"""

from __future__ import annotations

from functools import lru_cache

from forcemove.errors import InvalidValue
from forcemove.protocol import curve
from forcemove.protocol.curve import ORDER, LibraryPoint, uncompressed
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.rule_errors import SignatureMalleable, SignatureUnrecoverable, WrongSigner
from forcemove.protocol.types import ZERO_ADDRESS, Signature

HALF_ORDER = ORDER // 2
"""Above it, s is malleable."""
_HALF_ORDER_BYTES = HALF_ORDER.to_bytes(32, "big")


class Key:
    """A participant's private key. Its repr and its pickle show nothing of it."""

    __slots__ = ("_public_key", "_secret", "_sign", "address")

    def __init__(self, secret: bytes) -> None:
        """From 32 secret bytes, 1 to the group order - 1. Raises `InvalidValue`, which does not show them."""
        if type(secret) is not bytes or len(secret) != 32 or not 0 < int.from_bytes(secret, "big") < ORDER:
            raise InvalidValue("private key", "(hidden)", "32 bytes, from 1 to the order of secp256k1 less 1")
        self._secret = secret
        self._sign = curve.signer(secret)
        self._public_key = curve.public_key(secret)
        self.address: bytes = _address(self._public_key)

    @property
    def public_key(self) -> bytes:
        """The 33 bytes of the compressed public key (SEC 1)."""
        return curve.compressed(self._public_key)

    @property
    def secret(self) -> bytes:
        """The 32 secret bytes, for writing an encrypted key file."""
        return self._secret

    def sign(self, digest: bytes) -> Signature:
        """Sign a 32-byte digest; `s` comes out low."""
        signature = self._sign(digest)
        if signature[64]:
            return Signature(signature[:32] + bytes((signature[32] | 0x80,)) + signature[33:64])
        return Signature(signature[:64])

    def __repr__(self) -> str:
        return f"Key(address=0x{self.address.hex()})"

    def __reduce__(self) -> str:
        raise TypeError("a private key is not pickled")


def recover(digest: bytes, signature: Signature) -> bytes:
    """The 20-byte address that signed `digest`.

    Raises `SignatureMalleable` where s is above half the order, `SignatureUnrecoverable` where nobody can have made it.
    The twin of `Signatures.recover`.
    """
    compact = signature.compact
    parity, high = compact[32] >> 7, compact[32] & 0x7F
    s = bytes((high,)) + compact[33:]
    if s > _HALF_ORDER_BYTES:
        raise SignatureMalleable(s)
    try:
        public_key = curve.recover(compact[:32] + s + bytes((parity,)), digest)
    except ValueError:
        raise SignatureUnrecoverable() from None
    address = _address(public_key)
    if address == ZERO_ADDRESS:
        raise SignatureUnrecoverable()
    return address


def require_signer(digest: bytes, signature: Signature, expected: bytes) -> None:
    """Refuse a signature that is not `expected`'s. Raises `WrongSigner` and what `recover` raises."""
    recovered = recover(digest, signature)
    if recovered != expected:
        raise WrongSigner(expected, recovered)


def public_key_address(public_key: bytes) -> bytes:
    """The 20-byte address of a compressed public key. Raises `InvalidValue` on other bytes."""
    try:
        return _address(curve.parse(public_key))
    except ValueError:
        raise InvalidValue("public key", public_key, "33 bytes, a point of secp256k1") from None


def _address(public_key: LibraryPoint) -> bytes:
    return _address_of(uncompressed(public_key))


@lru_cache(maxsize=4_096)
def _address_of(public_key: bytes) -> bytes:
    """The address of an uncompressed key, 65 bytes; cached, since the same few participants sign again and again."""
    return keccak256(public_key[1:])[12:]
