"""What a relay grants its clients; every number can be set by its operator. Bytes and counts."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import InvalidValue
from forcemove.serving.limits import require_positive
from forcemove.transport.limits import CHANNEL_BYTES, CHANNEL_ENTRIES, GAME_BYTES, GAME_ENTRIES, MAX_FRAME

OUTBOX = 4 * MAX_FRAME
"""Bytes that may wait for one client; one that reads more slowly is sent the rest from the disk, after these bytes."""
LEAST_STORE = 2**20
"""Bytes that a store has to have."""
RECENT = 8 * 2**20
"""Bytes of the newest entries that are in memory, for the clients that read them next."""
PENDING = 8 * 2**20
"""Bytes of posts, of all clients, that may wait for the disk; beyond that the next posts are read later."""


@dataclass(frozen=True)
class Limits:
    """`store_bytes`: of the file with all logs; `bytes_of_address`, `tables_of_address`: kept, of the tables that
    were made from one IP address; `unused_hours`: after which a table without a post is deleted.

    `connections`: at once; `per_address`: at once from one address; `tables`: kept; `per_connection`: tables open on
    one connection; `messages_per_second` and `bytes_per_second`: read from one connection, with twice as many at once;
    the rest is read later; `address_share`: how many connections' worth of both is read from one address.
    `connects_per_second`: new connections from one address, with 25 times as many at once; `unread_bytes`: received
    from all clients and not read yet. `open_tables`: on all connections; `watched`: offers that one connection may
    watch. `tables_per_hour`: made from one address, as many at once; `joins_per_hour`: from one address, that led to no
    game. `channel_…`, `game_…`: how long a log may get. `days`: after which a table is deleted at which nothing
    happens. `stall`: seconds that a client may take to read what it is sent, or to send the rest of a frame;
    `header_seconds`: from connecting until a client has asked for a WebSocket; `idle_seconds`: that a client may stay
    without a table, an offer and a request. `offers`: in the lobby; `offers_of_a_host`: of one player;
    `offers_per_address`: made from one address; `join_seconds`: that all players have to be at their
    table, once all seats are taken; `guest_seconds`: that the guest of a table for two has, and that the seat of a
    guest of a larger table is kept without a connection."""

    connections: int = 5_000
    per_address: int = 1_000
    tables: int = 100_000
    per_connection: int = 10_000
    messages_per_second: int = 2_000
    bytes_per_second: int = 4 * 2**20
    address_share: float = 2.0
    connects_per_second: float = 20.0
    unread_bytes: int = 16 * 2**20
    open_tables: int = 100_000
    watched: int = 256
    tables_per_hour: int = 2_000
    joins_per_hour: int = 60
    channel_entries: int = CHANNEL_ENTRIES
    channel_bytes: int = CHANNEL_BYTES
    game_entries: int = GAME_ENTRIES
    game_bytes: int = GAME_BYTES
    days: float = 30.0
    unused_hours: float = 1.0
    store_bytes: int = 4 * 2**30
    bytes_of_address: int = 512 * 2**20
    tables_of_address: int = 10_000
    stall: float = 30.0
    header_seconds: float = 10.0
    idle_seconds: float = 120.0
    offers: int = 10_000
    offers_of_a_host: int = 20
    offers_per_address: int = 100
    join_seconds: float = 60.0
    guest_seconds: float = 15.0

    def __post_init__(self) -> None:
        require_positive(self)
        if self.bytes_per_second < MAX_FRAME:
            raise InvalidValue("bytes_per_second", self.bytes_per_second, f"at least {MAX_FRAME}, one frame")
        if self.store_bytes < LEAST_STORE:
            raise InvalidValue("store_bytes", self.store_bytes, f"at least {LEAST_STORE}")
        if self.address_share < 1:
            raise InvalidValue("address_share", self.address_share, "at least 1")
