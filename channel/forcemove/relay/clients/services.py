"""What all connections of a relay share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forcemove.relay.admission.accounts import Accounts
from forcemove.relay.admission.turns import Gate, Turns
from forcemove.relay.keeping import Committer
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.offers.lobby import Lobby
from forcemove.relay.tables import Tables


@dataclass(frozen=True)
class Services:
    """The parts of one relay. `accounts`: of addresses; `turns`: for the loop's time; `reads`, `writes`: how many
    requests, posts aside, use the store at once; `urls`: the addresses by which clients may know this relay; `clock`:
    Unix seconds."""

    tables: Tables
    committer: Committer
    lobby: Lobby
    metrics: Metrics
    accounts: Accounts
    turns: Turns
    reads: Gate
    writes: Gate
    limits: Limits
    urls: set[str]
    clock: Callable[[], float]
