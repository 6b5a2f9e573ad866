"""What a node waits for: looks at a chain for all channels of an adjudicator, and looks at an account's transactions.

A look may take as long as an endpoint does, and may run in a thread of its own. `prepare` before it and `take` after it
are called in the node's thread; a look itself touches nothing that these touch, and nothing else of the node's. What it
has found is in `found` until the node reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.errors import ForcemoveError, PassingError
from forcemove.channel.follower.blocks import Block
from forcemove.channel.follower.followed import Known
from forcemove.channel.follower.follower import Follower, Look
from forcemove.channel.protocol.agreement import Agreement

__all__ = ["ChainNews", "ChainWorker", "Following", "Worker"]

_KEEP_EVERY = 1_000
"""Blocks."""


@dataclass(frozen=True)
class Following:
    """A channel to be followed. `is_genuine`: asks whether its contracts are, None where that is known; `contracts`:
    which they are, so that those of many channels are asked for once. The others as of `Follower.follow`."""

    agreement: Agreement
    payee: bytes | None
    from_block: int
    began: bytes
    is_new: bool
    is_doubted: bool
    contracts: Hashable
    is_genuine: Callable[[], bool] | None = None
    known: Known | None = None


@dataclass(frozen=True)
class ChainNews:
    """What a look at a chain has found: `genuine`, the channels whose contracts are; `wrong`, those whose contracts are
    not, with the reason."""

    look: Look
    genuine: frozenset[bytes]
    wrong: Mapping[bytes, ForcemoveError]


class Worker(Protocol):
    """What looks at something outside, again and again. `endpoints`: how many it can ask, the next where one fails."""

    endpoints: int

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to look for."""
        ...

    def prepare(self) -> None:
        """Hand over what the node wants looked for."""
        ...

    def look(self) -> None:
        """Ask the endpoint, which may take long. Raises `ChainError`; nothing is lost then."""
        ...

    def take(self) -> None:
        """Give the node what the look has found."""
        ...


class ChainWorker:
    """Of one adjudicator on one chain. `uncertain`: the channels whose holdings are to be read in any case. `reached`:
    the last block of whose news the node has taken in all."""

    def __init__(self, adjudicators: Sequence[Adjudicator], confirmations: int, clock: Callable[[], float]) -> None:
        """`adjudicators`: the same one through each endpoint of the chain; at least one."""
        self.found: list[ChainNews] = []
        self.reached: Block | None = None
        self._keep_at = 0
        self.endpoints = len(adjudicators)
        self._follower = Follower(*adjudicators, confirmations=confirmations, clock=clock)
        self._begun: list[Following] = []
        self._ended: list[bytes] = []
        self.uncertain: set[bytes] = set()
        self._asked: tuple[bytes, ...] = ()
        self._news: ChainNews | None = None
        self._unchecked: dict[bytes, Following] = {}
        self._genuine: set[Hashable] = set()

    def take_in(self, reached: Block | None) -> bool:
        """The node has taken in all news up to this block. Whether so many blocks have gone by that channels in which
        nothing has happened are to be saved, too: after a restart they are read from there."""
        self.reached = reached or self.reached
        if self.reached is None or self.reached.number < self._keep_at:
            return False
        is_first, self._keep_at = self._keep_at == 0, self.reached.number + _KEEP_EVERY
        return not is_first

    @property
    def time(self) -> int:
        """The block time (seconds) that was read last."""
        return self._follower.last_time

    @property
    def is_idle(self) -> bool:
        """Never: a chain is looked at whatever happens."""
        return False

    def follow(self, following: Following) -> None:
        """From the next look on."""
        self._begun.append(following)
        self.uncertain.add(following.agreement.channel_id)

    def let_go(self, channel_id: bytes) -> None:
        """From the next look on."""
        self._ended.append(channel_id)
        self.uncertain.discard(channel_id)

    def prepare(self) -> None:
        """See `Worker`."""
        self._asked = tuple(self.uncertain)
        for each in self._begun:
            self._follower.follow(
                each.agreement,
                each.payee,
                each.from_block,
                is_new=each.is_new,
                began=each.began,
                is_doubted=each.is_doubted,
                known=each.known,
            )
            if each.is_genuine is not None:
                self._unchecked[each.agreement.channel_id] = each
        for id_ in self._ended:
            self._follower.let_go(id_)
            self._unchecked.pop(id_, None)
        self._begun, self._ended = [], []

    def look(self) -> None:
        """See `Worker`."""
        self._follower.expire()
        genuine, wrong = self._check()
        self._news = ChainNews(self._follower.look(self._asked), genuine, wrong)

    def take(self) -> None:
        """See `Worker`."""
        if self._news is not None:
            self.found.append(self._news)
            for id_ in self._news.genuine:
                self._unchecked.pop(id_, None)
        self._news = None

    def _check(self) -> tuple[frozenset[bytes], Mapping[bytes, ForcemoveError]]:
        """What cannot be asked now is asked by the next look: an endpoint that is waited for in vain is waited for
        once."""
        genuine, wrong = set(), {}
        for id_, each in self._unchecked.items():
            try:
                if self._is_genuine(each):
                    genuine.add(id_)
            except PassingError:
                break
            except ForcemoveError as error:
                wrong[id_] = error
        return frozenset(genuine), wrong

    def _is_genuine(self, each: Following) -> bool:
        if each.contracts not in self._genuine and each.is_genuine is not None and each.is_genuine():
            self._genuine.add(each.contracts)
        return each.contracts in self._genuine
