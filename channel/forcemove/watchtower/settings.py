"""How a watchtower works: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.errors import InvalidValue

__all__ = ["TowerSettings"]


@dataclass(frozen=True, slots=True)
class TowerSettings:
    """How a tower works.

    `max_cost`: what the gas of one answer may cost, in wei. `max_channels`: of each client. `head_start`: seconds of a
    challenge, by the chain's clock, that are left to the participants themselves and to other towers, at most half of
    its time. `buried`: for how many blocks a channel that is over is remembered, so that a reorganisation that brings
    it back finds it guarded. `first_block`: one before all logs of the adjudicators. `confirmations`: how many blocks
    deep a log must be to be believed, None for what is usual on the chain. `lease`: for how long, in seconds, the
    account is ours if we fall silent. `bump_after`: seconds after which a transaction that waits is offered more for.

    Raises `InvalidValue` on a number that is negative, and on confirmations, a lease or patience of 0.
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
