"""An Ethereum node in this process: blocks, transactions that wait, receipts and logs around pyrevm, which runs the
real bytecode a hundred times as fast as eth-tester. For what is played many times over.

It is asked in JSON-RPC's words, so that all of `Chain` is used. A block is a list of transactions, and every state is
what running them from the first one on gives: the past can be read, and another chain can win. The gas of a receipt is
pyrevm's, which is wrong over successive calls; its sender pays it, so that money adds up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from forcemove.arena.twin_node import wanted_logs
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.rpc import Rpc
from forcemove.chain.transactions import read_signed
from forcemove.errors import MalformedBytes
from forcemove.protocol.hashing import keccak256
from tests.simulation.state import CHAIN_ID, GAS, Block, State, Transaction, from_hex, to_hex

__all__ = ["MemoryNode"]

_GENESIS = 1_800_000_000
_GWEI = 10**9


class MemoryNode(Rpc):
    """Answers requests. `is_mining`: whether what is sent is mined at once; `base_fee`: of the blocks to come."""

    def __init__(self) -> None:
        self.endpoint = "memory"
        self._lock = threading.RLock()
        self.is_mining = True
        self.base_fee = _GWEI
        self.waiting: list[Transaction] = []
        self.blocks: list[Block] = []
        self._head, self._past = State(), State()
        self.next_time = _GENESIS
        self._answers: Mapping[str, Callable[..., Any]] = {
            "eth_chainId": lambda: CHAIN_ID,
            "eth_blockNumber": lambda: len(self.blocks) - 1,
            "eth_maxPriorityFeePerGas": lambda: _GWEI,
            "eth_getBlockByNumber": self._block,
            "eth_getBalance": lambda account, at: int(self._state(at).evm.get_balance(account)),
            "eth_getCode": lambda account, at: self._state(at).code(account),
            "eth_getTransactionCount": self._count,
            "eth_getTransactionReceipt": self._head_receipt,
            "eth_getTransactionByHash": self._known,
            "eth_sendRawTransaction": self._send,
            "eth_estimateGas": self._estimate,
            "eth_call": self._call,
            "eth_getLogs": lambda request: wanted_logs(request, self._head.logs),
        }
        self.mine()

    def ask(self, method: str, *params: Any) -> Any:
        """What a node answers. Raises `Reverted`, and `EndpointFailed` on what it does not know."""
        if method not in self._answers:
            raise EndpointFailed(method, "the method does not exist")
        with self._lock:
            return self._answers[method](*params)

    # ------------------------------------------------------------------------------------------------ blocks and time

    @property
    def latest(self) -> Block:
        return self.blocks[-1]

    def mine(self) -> None:
        """A block with all that waits, pays the base fee, and is its sender's next."""
        taken = self._take()
        number, time = len(self.blocks), self.next_time
        parent = self.blocks[-1].hash if self.blocks else bytes(32)
        content = b"".join(each.hash for each in taken)
        hash_ = keccak256(parent + number.to_bytes(8, "big") + time.to_bytes(8, "big") + content)
        self.blocks.append(Block(number, hash_, time, self.base_fee, taken))
        self._head.run(self.latest)
        self.next_time = time + 1

    def _take(self) -> tuple[Transaction, ...]:
        taken, nonces = [], dict(self._head.nonces)
        for each in sorted(self.waiting, key=lambda transaction: transaction.nonce):
            if each.nonce == nonces.get(each.sender, 0) and each.max_fee >= self.base_fee:
                taken.append(each)
                nonces[each.sender] = each.nonce + 1
        self.waiting = [each for each in self.waiting if each.nonce >= nonces.get(each.sender, 0)]
        return tuple(taken)

    def travel_to(self, time: int) -> None:
        """The next block is of this time, and one a second before it is mined now."""
        if time != self.next_time:
            self.next_time = time - 1
            self.mine()

    def revert_to(self, height: int) -> tuple[Transaction, ...]:
        """Another chain wins, of which the blocks up to this one are the same. Returns the transactions that were in
        the others; nobody sends them again."""
        gone = tuple(each for block in self.blocks[height + 1 :] for each in block.transactions)
        self.blocks = self.blocks[: height + 1]
        self._head = self._run_to(State(), height)
        self._past = State()
        # Its blocks are others, even where they are empty, too.
        self.next_time += 1
        return gone

    def _run_to(self, state: State, height: int) -> State:
        for block in self.blocks[state.height + 1 : height + 1]:
            state.run(block)
        return state

    def _state(self, at: str) -> State:
        """The state after a block, at the time of that block; "pending" is the newest state at the next time."""
        latest = self.latest
        number = int(at, 16) if at.startswith("0x") else latest.number
        if number == latest.number:
            is_pending = at == "pending"
            self._head.at(latest.number + is_pending, self.next_time if is_pending else latest.time)
            return self._head
        if number > latest.number:
            raise EndpointFailed("eth_call", f"there is no block {number}")
        if self._past.height > number:
            self._past = State()
        past = self._run_to(self._past, number)
        past.at(number, self.blocks[number].time)
        return past

    # ----------------------------------------------------------------------------------------------------- its answers

    def _block(self, number: str, _: bool) -> dict[str, Any] | None:
        if number == "pending":
            return {"number": len(self.blocks), "timestamp": self.next_time, "hash": None}
        at = len(self.blocks) - 1 if number == "latest" else int(number, 16)
        if at >= len(self.blocks):
            return None
        block = self.blocks[at]
        return {
            "number": block.number,
            "hash": block.hash,
            "timestamp": block.time,
            "parentHash": self.blocks[at - 1].hash if at else bytes(32),
            "baseFeePerGas": block.base_fee,
        }

    def _call(self, request: Mapping[str, str], at: str) -> bytes:
        return self._state(at).call(request)

    def _estimate(self, request: Mapping[str, str], at: str) -> int:
        """More than anything needs here: pyrevm's gas is not to be relied on."""
        self._call(request, at)
        return GAS // 4

    def _count(self, account: str, at: str) -> int:
        sender = from_hex(account)
        number = self._head.nonces.get(sender, 0)
        waiting = {each.nonce for each in self.waiting if each.sender == sender and at == "pending"}
        while number in waiting:  # what waits behind a gap is not counted
            number += 1
        return number

    def _head_receipt(self, hash_: str) -> dict[str, Any] | None:
        return self._head.receipts.get(hash_)

    def _known(self, hash_: str) -> object:
        return self._head_receipt(hash_) or next((each for each in self.waiting if to_hex(each.hash) == hash_), None)

    def _send(self, raw: str) -> bytes:
        transaction = _decode(from_hex(raw))
        if self._known(to_hex(transaction.hash)) is not None:
            raise EndpointFailed("eth_sendRawTransaction", "already known")
        if transaction.nonce < self._head.nonces.get(transaction.sender, 0):
            raise EndpointFailed("eth_sendRawTransaction", "nonce too low")
        cost = transaction.value + transaction.gas * transaction.max_fee
        if cost > int(self._head.evm.get_balance(to_hex(transaction.sender))):
            raise EndpointFailed("eth_sendRawTransaction", "insufficient funds for gas * price + value")
        self._replace(transaction)
        if self.is_mining:
            self.mine()
        return transaction.hash

    def _replace(self, transaction: Transaction) -> None:
        place = (transaction.sender, transaction.nonce)
        replaced = [each for each in self.waiting if (each.sender, each.nonce) == place]
        fees = [(transaction.max_fee, each.max_fee) for each in replaced]
        fees += [(transaction.tip, each.tip) for each in replaced]
        if any(10 * new < 11 * old for new, old in fees):
            raise EndpointFailed("eth_sendRawTransaction", "replacement transaction underpriced")
        self.waiting = [each for each in self.waiting if each not in replaced] + [transaction]


def _decode(raw: bytes) -> Transaction:
    """Raises `EndpointFailed` on what is not a transaction of type 2 for this chain."""
    try:
        signed = read_signed(raw, CHAIN_ID)
    except MalformedBytes as error:
        raise EndpointFailed("eth_sendRawTransaction", f"malformed: {error}") from None
    call, fees = signed.call, signed.fees
    return Transaction(
        signed.hash,
        signed.sender,
        call.to,
        call.data,
        call.value,
        signed.nonce,
        signed.gas,
        fees.max_fee_per_gas,
        fees.max_priority_fee_per_gas,
    )
