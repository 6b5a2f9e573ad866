"""What can go wrong between a tower's client and its service."""

from __future__ import annotations

from forcemove.errors import CounterpartyError, ForcemoveError


class TowerUnreachable(ForcemoveError):
    """No tower answers at `url`, or what answers there is none. No appointment was acknowledged."""

    url: str
    reason: str


class TowerBusy(ForcemoveError):
    """The tower at `url` accepts nothing just now. `reason`: why, the name of its error; the same appointment may be
    accepted after `seconds`."""

    url: str
    reason: str
    seconds: float
    detail: str


class TowerRefused(CounterpartyError):
    """The tower at `url` does not accept this appointment. `reason`: the name of its error, such as `NotServed`;
    `detail`: the error with its values."""

    url: str
    reason: str
    detail: str
