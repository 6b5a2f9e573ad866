"""The chain of a node in this process."""

from __future__ import annotations

from forcemove.chain.asking import Steps, asking
from forcemove.chain.chain import Call, Chain
from forcemove.chain.errors import CannotTravel
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.chain.reverts import ErrorTable
from forcemove.chain.rpc import Rpc
from tests.simulation.node import MemoryNode
from tests.simulation.state import GAS

__all__ = ["MemoryChain"]


class MemoryChain(Chain):
    """The chain of a node of its own: a block for each transaction, and a clock that does not move between them."""

    can_travel = True

    def __init__(self, rpc: Rpc | None = None) -> None:
        """`rpc`: another way to ask a node that there is already."""
        self.rpc = rpc or MemoryNode()
        self.identify()

    @property
    def node(self) -> MemoryNode:
        """The node itself."""
        node = self.rpc if isinstance(self.rpc, MemoryNode) else getattr(self.rpc, "node", None)
        assert isinstance(node, MemoryNode)
        return node

    def travel_to(self, time_: int) -> None:
        """Mines a block one second before `time_`; the next transaction lands at exactly `time_`."""
        if time_ <= self.now():
            raise CannotTravel(self.now(), time_)
        self.node.travel_to(time_)
        self.node.next_time = time_

    @asking
    def gas_for(self, call: Call, sender: bytes, errors: ErrorTable, max_gas: int = MAX_TX_GAS) -> Steps[int]:
        """A fixed limit, as on the chain that is embedded elsewhere."""
        yield from self.simulate.steps(call, sender, errors)
        return GAS
