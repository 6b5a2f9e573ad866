"""Stands in for safe-pysha3 in a browser: Keccak-256 by noble-hashes, which the page's worker gives."""

from __future__ import annotations

from typing import Any

from forcemove_js import keccak256  # type: ignore[import-not-found]  # the worker registers it


class keccak_256:  # noqa: N801  # the name of what it stands in for
    """The hash of bytes."""

    def __init__(self, data: bytes) -> None:
        """`data`: all that is hashed."""
        self._data = data

    def digest(self) -> bytes:
        """The 32 bytes."""
        found: Any = keccak256(self._data)
        return bytes(found.to_bytes())
