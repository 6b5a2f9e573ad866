"""Numbers for new channels. A channel's id commits to its nonce: where nonces are drawn at random no id is used again,
neither after the channel was closed nor on a test chain that was started again."""

from __future__ import annotations

import secrets


def draw_nonce() -> int:
    """A `channel_nonce`: 64 random bits."""
    return secrets.randbits(64)
