"""The settings of a watchtower: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class TowerSettings:
    """The settings of a tower.

    `max_cost`: what the gas of one answer may cost, in wei. `max_channels`: of each client. `head_start`: seconds of a
    challenge, by the chain's clock, that are left to the participants themselves and to other towers, at most half of
    its time. `buried`: for how many blocks a channel that is over is still watched, in case a reorganisation opens it
    again. `first_block`: a block before all logs of the adjudicators. `confirmations`: how many blocks
    deep a log must be to be believed, None for what is usual on the chain. `lease`: for how long, in seconds, the
    account stays ours if this process stops renewing. `bump_after`: seconds after which a pending transaction is sent
    again with a higher fee.

    Raises `InvalidValue` on a number that is negative, and on `confirmations`, a `lease` or a `bump_after` of 0.
    """

    max_cost: int = 10**17
    max_channels: int = 1_000
    head_start: int = 0
    buried: int = 64
    first_block: int = 0
    confirmations: int | None = None
    lease: float = 60.0
    bump_after: float = 60.0

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_channels", "head_start", "buried", "first_block"):
            if getattr(self, name) < 0:
                raise InvalidValue(name, getattr(self, name), "0 or more")
        for name in ("confirmations", "lease", "bump_after"):
            if getattr(self, name) is not None and getattr(self, name) <= 0:
                raise InvalidValue(name, getattr(self, name), "more than 0")
