"""The playground's chain by the contracts' twins: no contract code runs, and nothing has to be installed or brought up
for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forcemove.arena.chain import ArenaChain, ArenaEndpoint
from forcemove.arena.twin_node import TwinNode
from forcemove.chain.book import AddressBook
from forcemove.game import PlayableApp


class TwinChain(ArenaChain):
    """An `ArenaChain` of a `TwinNode`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that go on steadily; the chain's clock goes with them."""
        self._node = TwinNode()
        super().__init__(self._node, "the twin")
        self.follow(clock)

    def deploy(self, games: Iterable[PlayableApp]) -> AddressBook:
        """See `ArenaChain`."""
        return self._node.deploy(games)

    def endpoint_named(self, name: str) -> ArenaEndpoint:
        """See `ArenaChain`."""
        return ArenaEndpoint(self, name)

    @property
    def time(self) -> int:
        """See `ArenaChain`."""
        return self._node.next_time

    @property
    def head(self) -> bytes:
        """See `ArenaChain`."""
        return self._node.blocks[-1].header.hash

    def _set_pending(self, time: int, base_fee: int) -> None:
        self._node.next_time, self._node.base_fee = time, base_fee

    def _drop_from(self, number: int) -> Sequence[bytes]:
        return self._node.drop_from(number)

    def _make_block(self) -> None:
        self._node.mine()
