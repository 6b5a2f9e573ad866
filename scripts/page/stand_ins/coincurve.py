"""Stands in for coincurve in a browser: secp256k1 by noble-curves, which the page's worker gives. It has what
`forcemove.protocol.curve` uses, and raises `ValueError` where there is no result, as coincurve does."""

from __future__ import annotations

from typing import Any

from forcemove_js import curve  # type: ignore[import-not-found]  # the worker registers it
from pyodide.ffi import JsException  # type: ignore[import-not-found]  # there in a browser alone


def _bytes(function: Any, *values: object) -> bytes:
    try:
        return bytes(function(*values).to_bytes())
    except JsException as error:
        raise ValueError(str(error)) from None


class PublicKey:
    """A point, by its 65 bytes (SEC 1)."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        """`data`: 33 or 65 bytes of SEC 1."""
        self._data = _bytes(curve.parse, data)

    @classmethod
    def _of(cls, data: bytes) -> PublicKey:
        made = cls.__new__(cls)
        made._data = data
        return made

    @classmethod
    def from_valid_secret(cls, secret: bytes) -> PublicKey:
        """The multiple of the generator."""
        return cls._of(_bytes(curve.publicKey, secret))

    @classmethod
    def from_signature_and_message(cls, signature: bytes, digest: bytes, hasher: None) -> PublicKey:
        """The key by which a signature (r, s and parity, 65 bytes) is one of a digest, which is not hashed again."""
        del hasher
        return cls._of(_bytes(curve.recover, signature, digest))

    @classmethod
    def combine_keys(cls, points: list[PublicKey]) -> PublicKey:
        """The sum."""
        return cls._of(_bytes(curve.add, b"".join(each._data for each in points)))

    def multiply(self, scalar: bytes) -> PublicKey:
        """A multiple."""
        return self._of(_bytes(curve.multiply, self._data, scalar))

    def format(self, compressed: bool = True) -> bytes:
        """The 33 or 65 bytes of SEC 1."""
        if not compressed:
            return self._data
        return bytes((2 + self._data[64] % 2,)) + self._data[1:33]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)


class PrivateKey:
    """A secret of 32 bytes."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        """`secret`: from 1 to the order less 1."""
        self._secret = secret

    def sign_recoverable(self, digest: bytes, hasher: None) -> bytes:
        """r, s (low) and parity, 65 bytes, of a digest, which is not hashed again."""
        del hasher
        return _bytes(curve.sign, digest, self._secret)
