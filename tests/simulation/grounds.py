"""The chains that schedules are played on: a node in this process, and a real anvil. Blocks are made when a test says
so, newer ones can be undone, and transactions that wait forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from forcemove.chain.chain import Chain
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import AnvilChain
from forcemove.chain.rpc import Rpc, as_number
from tests.simulation.chain import MemoryChain
from tests.simulation.node import MemoryNode
from tests.simulation.state import Transaction

__all__ = ["Answer", "AnvilGround", "Ground", "MemoryGround"]

Answer = Callable[..., Any]
"""What is made of a request: its method and parameters."""
_GWEI = 10**9
_REMEMBERED = 8
"""Blocks that can be undone."""


class Ground(Protocol):
    """`chain`: as it is, for those whom no weather touches. `base_fee`: of the blocks to come."""

    chain: Chain
    base_fee: int

    @property
    def height(self) -> int: ...

    def ask(self, method: str, *params: Any) -> Any: ...

    def through(self, answer: Answer) -> Chain:
        """The chain as somebody sees it whose requests are answered by `answer`."""
        ...

    def mine(self, later: int) -> None:
        """A block that is this many seconds later than the newest one."""
        ...

    def has_transactions(self) -> bool:
        """Whether there are any in the newest block."""
        ...

    def undo(self, blocks: int) -> Sequence[Any]:
        """Another chain wins, without the newest blocks. Returns what was in them, for `again`."""
        ...

    def again(self, transaction: Any) -> None:
        """It waits once more."""
        ...

    def forget(self) -> None:
        """Everything that waits."""
        ...

    def gas_paid(self, account: bytes, since: int) -> int:
        """In wei, from this block on."""
        ...


class _Asked(Rpc):
    def __init__(self, answer: Answer, name: str) -> None:
        self.endpoint, self._answer = name, answer

    def ask(self, method: str, *params: Any) -> Any:
        return self._answer(method, *params)


class _Through(Chain):
    def __init__(self, rpc: Rpc) -> None:
        self.rpc = rpc
        self.identify()

    def close(self) -> None:
        """It holds nothing."""


class MemoryGround:
    """A node in this process."""

    def __init__(self, chain: MemoryChain) -> None:
        self.chain: Chain = chain
        self._node: MemoryNode = chain.node
        self._node.is_mining = False

    @property
    def base_fee(self) -> int:
        return self._node.base_fee

    @base_fee.setter
    def base_fee(self, fee: int) -> None:
        self._node.base_fee = fee

    @property
    def height(self) -> int:
        return len(self._node.blocks) - 1

    def ask(self, method: str, *params: Any) -> Any:
        return self._node.ask(method, *params)

    def through(self, answer: Answer) -> Chain:
        return MemoryChain(_Asked(answer, "memory"))

    def mine(self, later: int) -> None:
        self._node.next_time += later
        self._node.mine()

    def has_transactions(self) -> bool:
        return bool(self._node.latest.transactions)

    def undo(self, blocks: int) -> Sequence[Any]:
        return self._node.revert_to(self.height - blocks)

    def again(self, transaction: Transaction) -> None:
        self._node.waiting.append(transaction)

    def forget(self) -> None:
        self._node.waiting.clear()

    def gas_paid(self, account: bytes, since: int) -> int:
        transactions = [each for block in self._node.blocks[since:] for each in block.transactions]
        receipts = [
            self.ask("eth_getTransactionReceipt", "0x" + each.hash.hex())
            for each in transactions
            if each.sender == account
        ]
        return sum(each["gasUsed"] * each["effectiveGasPrice"] for each in receipts)


class AnvilGround:
    """A real node. Each block is remembered by a snapshot before it, to which the chain can go back."""

    def __init__(self, chain: AnvilChain) -> None:
        self.chain: Chain = chain
        self.base_fee = _GWEI
        self._before: list[str] = []
        self.ask("evm_setAutomine", False)

    @property
    def height(self) -> int:
        return self.chain.block_number()

    def ask(self, method: str, *params: Any) -> Any:
        return self.chain.rpc.ask(method, *params)

    def through(self, answer: Answer) -> Chain:
        return _Through(_Asked(answer, "anvil"))

    def mine(self, later: int) -> None:
        self._before = [*self._before, self.ask("evm_snapshot")][-_REMEMBERED:]
        self.ask("anvil_setNextBlockBaseFeePerGas", hex(self.base_fee))
        self.ask("evm_setNextBlockTimestamp", hex(self.chain.now() + later))
        self.ask("evm_mine")

    def has_transactions(self) -> bool:
        return bool(self.chain.block("latest")["transactions"])

    def undo(self, blocks: int) -> Sequence[Any]:
        blocks = min(blocks, len(self._before))
        if not blocks:
            return ()
        numbers = range(self.height - blocks + 1, self.height + 1)
        hashes = [each for number in numbers for each in self.chain.block(number)["transactions"]]
        gone = [self.ask("eth_getRawTransactionByHash", each) for each in hashes]
        snapshot, self._before = self._before[-blocks], self._before[:-blocks]
        assert self.ask("evm_revert", snapshot)
        return gone

    def again(self, transaction: str) -> None:
        with suppress(EndpointFailed):  # below the base fee it does not wait
            self.ask("eth_sendRawTransaction", transaction)

    def forget(self) -> None:
        self.ask("anvil_dropAllTransactions")

    def gas_paid(self, account: bytes, since: int) -> int:
        total, sender = 0, "0x" + account.hex()
        for number in range(since, self.height + 1):
            for each in self.ask("eth_getBlockReceipts", hex(number)):
                if each["from"].lower() == sender:
                    total += as_number(each["gasUsed"]) * as_number(each["effectiveGasPrice"])
        return total
