"""Hashes as a page shows them. Pure."""

from __future__ import annotations

import re

_HASH = re.compile(r"(0x[0-9a-f]{8})[0-9a-f]{48}([0-9a-f]{8})")


def short_hash(data: bytes, digits: int = 8) -> str:
    """The first digits of some bytes."""
    text = data.hex()
    return f"0x{text}" if len(text) <= 2 * digits else f"0x{text[:digits]}\N{HORIZONTAL ELLIPSIS}{text[-digits:]}"


def with_short_hashes(text: str) -> str:
    """A text in which hashes of 32 bytes are short."""
    return _HASH.sub("\\1\N{HORIZONTAL ELLIPSIS}\\2", text)
