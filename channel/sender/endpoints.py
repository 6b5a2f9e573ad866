"""The endpoints of one chain as a sender uses them: one is asked, and what must not be kept from the chain is shown to
all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from forcemove.channel.chain.chain import Chain, SignedTransaction
from forcemove.channel.chain.errors import InsufficientFunds, TransactionRefused
from forcemove.channel.errors import PassingError

__all__ = ["Endpoints"]

_REST = 30.0
"""Seconds for which one that has failed is shown nothing: it may take ten seconds to fail again."""


class Endpoints:
    """At least one."""

    def __init__(self, chains: Sequence[Chain], clock: Callable[[], float]) -> None:
        """`clock`: seconds."""
        self._chains, self._clock = deque(chains), clock
        self._rests_until: dict[Chain, float] = {}

    def __len__(self) -> int:
        return len(self._chains)

    @property
    def asked(self) -> Chain:
        """The one that is asked now."""
        return self._chains[0]

    def ask_the_next(self) -> None:
        """From now on."""
        self._chains.rotate(-1)

    def leave(self) -> None:
        """The one that is asked now: it has just failed."""
        self._rests_until[self.asked] = self._clock() + _REST
        self.ask_the_next()

    def show_to_others(self, signed: SignedTransaction) -> None:
        """Hand a transaction to those that are not asked now; what they make of it is not waited for."""
        now = self._clock()
        for chain in list(self._chains)[1:]:
            if self._rests_until.get(chain, now) > now:
                continue
            try:
                chain.broadcast(signed)
            except PassingError:
                self._rests_until[chain] = now + _REST
            except (InsufficientFunds, TransactionRefused):
                continue
