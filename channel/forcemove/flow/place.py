"""Where a client sits at a table with others, as a game needs it to play there."""

from __future__ import annotations

from dataclasses import dataclass, field

from forcemove.errors import InvalidValue
from forcemove.flow.transport import Transport
from forcemove.protocol.signing import Key
from forcemove.protocol.types import require_bytes

__all__ = ["Place"]

_SEED_LENGTH = 32


@dataclass(frozen=True)
class Place:
    """A seat at a table, for a game that begins and for one that is resumed.

    `log`: of the table with the id `table` (32 bytes), for its players alone. `names`, `players`: the players' names
    and their addresses (20 bytes), by seat. `key`: ours. `seed`: 32 secret bytes, the same whenever the game is
    resumed. Raises `InvalidValue`, also where the key is not that of the seat.
    """

    log: Transport
    table: bytes
    names: tuple[str, ...]
    players: tuple[bytes, ...]
    seat: int
    key: Key
    seed: bytes = field(repr=False)

    def __post_init__(self) -> None:
        require_bytes("table", self.table, 32)
        require_bytes("seed", self.seed, _SEED_LENGTH)
        if len(self.names) != len(self.players) or not 0 <= self.seat < len(self.players):
            raise InvalidValue("seat", self.seat, "that of a player, each of whom has a name")
        if self.key.address != self.players[self.seat]:
            raise InvalidValue("key", self.key.address, "that of the seat")
