"""Limits for what travels between clients and a relay, derived from the protocol's bounds. In bytes, unless it says
so."""

from __future__ import annotations

from forcemove.protocol.codec.limits import MAX_ENVELOPE

MAX_ENTRY = MAX_ENVELOPE
"""One entry of a log: the largest signed action, and so the largest legal state."""
MAX_URL = 512
"""Of a relay's address."""
_AROUND = 1_024
"""Version, names of tables, numbers and signatures around an entry or a relay's address."""
MAX_FRAME = MAX_ENTRY + _AROUND
"""One frame of a WebSocket, which has any number of messages: the largest entry always fits."""

CHANNEL_ENTRIES, CHANNEL_BYTES = 4_096, 16 * 2**20
"""Entries and bytes that are kept of a channel's log, by a client, and by a relay with default settings; older entries
are dropped. A client that misses one sends a greeting, and gets the states that it lacks."""
GAME_ENTRIES, GAME_BYTES = 65_536, 64 * 2**20
"""Entries and bytes that a game's log may have; every entry of it counts, so that none is dropped."""
