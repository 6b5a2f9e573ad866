"""A secret as a text might have it, for tests that search what is shown, logged, or sent."""

from __future__ import annotations

import base64
from collections.abc import Iterator

__all__ = ["is_in"]


def forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it might be written: raw, hex, decimal, escaped (an apostrophe, too, or not, as Python does by what
    surrounds it), and base64 at each place in what surrounds it."""
    yield secret
    escaped = repr(b'"' + secret)[3:-1]
    yield escaped.encode()
    yield escaped.replace(r"\'", "'").encode()
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield str(int.from_bytes(secret)).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            whole = encode(bytes(before) + secret)
            first, rest = -(-before * 8 // 6), (before + len(secret)) % 3
            yield whole[first + (before > 0) : len(whole) - (4 if rest else 0)]


def is_in(text: bytes, secret: bytes) -> bool:
    """Whether a text has a secret in any of its forms."""
    return any(form in text for form in forms(secret))
