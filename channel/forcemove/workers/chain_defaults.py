"""How a chain is read unless somebody says otherwise: how deep, how often, and by which clock."""

from __future__ import annotations

import time
from collections.abc import Callable

LOCAL_CHAINS = frozenset({1337, 31337, 131277322940537})
"""The ids of the chains that people run for themselves: ganache's, anvil's and hardhat's, eth-tester's."""
_CONFIRMATIONS = 6


def default_confirmations(chain_id: int) -> int:
    """How many blocks deep a log must be to be believed: 1 where people run the chain for themselves, else 6."""
    return 1 if chain_id in LOCAL_CHAINS else _CONFIRMATIONS


def own_clock(chain_id: int) -> Callable[[], float] | None:
    """Our own clock, seconds since 1970; None on a chain that people run for themselves, whose clock they move."""
    return None if chain_id in LOCAL_CHAINS else time.time


def default_look_every(chain_id: int) -> float:
    """Seconds between two looks at a chain: a local one makes a block as soon as it has a transaction."""
    return 0.2 if chain_id in LOCAL_CHAINS else 1.0
