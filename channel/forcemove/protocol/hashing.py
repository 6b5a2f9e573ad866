"""Keccak-256, the one hash of the EVM, through a C library. Knows nothing of the bytes that it hashes."""

from __future__ import annotations

from sha3 import keccak_256


def keccak256(data: bytes) -> bytes:
    """The 32-byte Keccak-256 digest of `data` (the original padding, as in the EVM, not NIST's SHA3-256)."""
    digest: bytes = keccak_256(data).digest()
    return digest
