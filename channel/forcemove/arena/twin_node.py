"""A node in this process whose one contract is the adjudicator's twin: blocks, accounts, receipts and logs, asked for
in JSON-RPC's words. It knows what our clients ask and send; the gas that it names is the usual one of each
operation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forcemove.arena.twin_contract import TwinAnswer, TwinContract
from forcemove.artifact import ADJUDICATOR
from forcemove.chain.answers import has_topics
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import BlockHeader, Call
from forcemove.chain.create2 import derived_address
from forcemove.chain.derived_book import derived_book
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import LOCAL_BALANCE, local_keys
from forcemove.chain.rpc import Reverted, as_bytes
from forcemove.chain.transactions import SignedTransaction, read_signed
from forcemove.contracts import artifact
from forcemove.errors import MalformedBytes
from forcemove.game import PlayableApp
from forcemove.protocol.adjudication import Adjudication
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.encoding import Domain
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import ZERO_ADDRESS

_CHAIN_ID = 131_277_322_940_537
"""eth-tester's, so that nothing on a page is different."""
_GWEI = 10**9
_GAS_OF_REVERT = 40_000
"""Units of gas that an operation has used when it reverts."""


@dataclass(frozen=True, slots=True)
class _State:
    """What there is after a block: what the adjudicator stores, and of each account (20 bytes) its wei and its next
    nonce."""

    adjudication: Adjudication
    balances: Mapping[bytes, int]
    nonces: Mapping[bytes, int]


@dataclass(frozen=True, slots=True)
class TwinBlock:
    """A block, and the state after it. `receipts`: as a node answers with them, by the transaction's hash."""

    header: BlockHeader
    transactions: tuple[SignedTransaction, ...]
    receipts: Mapping[str, Mapping[str, Any]]
    state: _State


class TwinNode:
    """A `RpcTransport` to the chain that it keeps. A transaction is mined when it is sent, or refused.

    `blocks`: from the first one on; `next_time`, `base_fee`: of the next one."""

    is_here = True

    def __init__(self) -> None:
        self.next_time, self.base_fee = int(time.time()), _GWEI
        self._contract = TwinContract(artifact_address := derived_address(artifact(ADJUDICATOR)))
        self._codes = {artifact_address: artifact(ADJUDICATOR).runtime_bytecode}
        balances = {key.address: LOCAL_BALANCE for key in local_keys()}
        state = _State(Adjudication(Domain(_CHAIN_ID, artifact_address)), balances, {})
        self.blocks = [TwinBlock(self._header(bytes(32), 0), (), {}, state)]
        self._answers: Mapping[str, Callable[..., Any]] = {
            "eth_chainId": lambda: _CHAIN_ID,
            "eth_blockNumber": lambda: len(self.blocks) - 1,
            "eth_maxPriorityFeePerGas": lambda: _GWEI,
            "eth_getBlockByNumber": self._shown_block,
            "eth_getBalance": lambda account, at: self._at(at).balances.get(as_bytes(account), 0),
            "eth_getCode": lambda account, _: self._codes.get(as_bytes(account), b""),
            "eth_getTransactionCount": lambda account, at: self._at(at).nonces.get(as_bytes(account), 0),
            "eth_getTransactionReceipt": self._receipt,
            "eth_getTransactionByHash": self._receipt,
            "eth_sendRawTransaction": self._send,
            "eth_estimateGas": lambda request, at: self._called(request, at).gas,
            "eth_call": lambda request, at: self._called(request, at).returned,
            "eth_getLogs": self._logs,
        }

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        if method not in self._answers:
            raise EndpointFailed(method, "the method does not exist")
        return self._answers[method](*params)

    def close(self) -> None:
        """See `RpcTransport`: there is nothing to close."""

    def deploy(self, games: Iterable[PlayableApp]) -> AddressBook:
        """Let channels of these games be there, each at the address at which its contract would be deployed."""
        games = tuple(games)
        book = derived_book(_CHAIN_ID, games)
        for game in games:
            address = book.find(game.artifact.name).address
            self._contract.rules[address] = game
            self._codes[address] = game.artifact.runtime_bytecode
        return book

    # ---------------------------------------------------------------------------------------------------------- blocks

    def mine(self, transactions: Sequence[SignedTransaction] = ()) -> None:
        """Make a block of these transactions, which the newest state allows, and of the time that was set."""
        latest = self.blocks[-1]
        header = self._header(latest.header.hash, latest.header.number + 1, transactions)
        state, receipts = latest.state, dict[str, Mapping[str, Any]]()
        for each in transactions:
            logs = sum(len(receipt["logs"]) for receipt in receipts.values())
            state, receipts[hex_text(each.hash)] = self._run(state, each, header, logs)
        self.blocks.append(TwinBlock(header, tuple(transactions), receipts, state))
        self.next_time += 1

    def _header(self, parent: bytes, number: int, transactions: Sequence[SignedTransaction] = ()) -> BlockHeader:
        content = b"".join(each.hash for each in transactions)
        hash_ = keccak256(parent + self.next_time.to_bytes(8) + self.base_fee.to_bytes(32) + content)
        return BlockHeader(number, hash_, parent, self.next_time, self.base_fee)

    def drop_from(self, number: int) -> list[bytes]:
        """Forget the block of this number and all later ones; the bytes of the transactions that were in them."""
        gone = [each.raw for block in self.blocks[number:] for each in block.transactions]
        del self.blocks[number:]
        return gone

    def _run(
        self, state: _State, signed: SignedTransaction, header: BlockHeader, first_log: int
    ) -> tuple[_State, Mapping[str, Any]]:
        """The state after a transaction, and its receipt. One that fails is paid for all the same. `first_log`: the
        number of its first log in the block."""
        price = min(signed.fees.max_fee_per_gas, self.base_fee + signed.fees.max_priority_fee_per_gas)
        answer, gas = self._outcome(state, signed)
        after = state if answer is None else self._with_call(state, answer, signed)
        balances = {**after.balances, signed.sender: after.balances[signed.sender] - gas * price}
        place = {"transactionHash": signed.hash, "blockNumber": header.number, "blockHash": header.hash}
        logs = () if answer is None else answer.logs
        receipt = place | {
            "from": signed.sender,
            "gasUsed": gas,
            "effectiveGasPrice": price,
            "contractAddress": None,
            "status": int(answer is not None),
            "logs": [{**log, **place, "logIndex": index} for index, log in enumerate(logs, first_log)],
        }
        return replace(after, balances=balances, nonces={**state.nonces, signed.sender: signed.nonce + 1}), receipt

    def _outcome(self, state: _State, signed: SignedTransaction) -> tuple[TwinAnswer | None, int]:
        """What a transaction does, None where it fails, and the units of gas that it uses."""
        try:
            answer = self._answer(state, signed.call, signed.sender)
        except (Reverted, EndpointFailed):
            return None, min(_GAS_OF_REVERT, signed.gas)
        return (answer, answer.gas) if answer.gas <= signed.gas else (None, signed.gas)

    def _with_call(self, state: _State, answer: TwinAnswer, signed: SignedTransaction) -> _State:
        """The state after a call that has succeeded, before its gas is paid for."""
        balances = dict(state.balances)
        for from_, to, amount in (
            (signed.sender, signed.call.to or ZERO_ADDRESS, signed.call.value),
            *((self._contract.address, each.to, each.amount) for each in answer.payments),
        ):
            balances[from_] = balances.get(from_, 0) - amount
            balances[to] = balances.get(to, 0) + amount
        return replace(state, adjudication=answer.adjudication, balances=balances)

    def _answer(self, state: _State, call: Call, sender: bytes) -> TwinAnswer:
        """What a call in the next block would do. Raises `Reverted`, `EndpointFailed`."""
        if call.to is None:
            raise EndpointFailed("eth_call", "contracts cannot be created here")
        if call.value > state.balances.get(sender, 0):
            raise EndpointFailed("eth_call", "insufficient funds for gas * price + value")
        if call.to != self._contract.address:
            return TwinAnswer(state.adjudication)
        return self._contract.answer(state.adjudication, call, sender, self.next_time)

    # --------------------------------------------------------------------------------------------------------- answers

    def _at(self, at: str) -> _State:
        """The state after a block; that of the newest one is also the one before the next."""
        return self.blocks[int(at, 16) if at.startswith("0x") else -1].state

    def _called(self, request: Mapping[str, str], at: str) -> TwinAnswer:
        to = as_bytes(request["to"]) if "to" in request else None
        call = Call(to, as_bytes(request["data"]), int(request["value"], 16))
        return self._answer(self._at(at), call, as_bytes(request["from"]))

    def _shown_block(self, at: str, _: bool) -> Mapping[str, Any] | None:
        if at == "pending":
            return {"number": len(self.blocks), "timestamp": self.next_time, "hash": None}
        number = int(at, 16) if at.startswith("0x") else len(self.blocks) - 1
        if number >= len(self.blocks):
            return None
        block, header = self.blocks[number], self.blocks[number].header
        return {
            "number": header.number,
            "hash": header.hash,
            "parentHash": header.parent,
            "timestamp": header.time,
            "baseFeePerGas": header.base_fee,
            "transactions": [each.hash for each in block.transactions],
        }

    def _receipt(self, hash_: str) -> Mapping[str, Any] | None:
        return next((block.receipts[hash_] for block in reversed(self.blocks) if hash_ in block.receipts), None)

    def _send(self, raw: str) -> bytes:
        try:
            signed = read_signed(as_bytes(raw), _CHAIN_ID)
        except MalformedBytes as error:
            raise EndpointFailed("eth_sendRawTransaction", error.reason) from None
        if reason := self._why_refused(signed):
            raise EndpointFailed("eth_sendRawTransaction", reason)
        self.mine([signed])
        return signed.hash

    def _why_refused(self, signed: SignedTransaction) -> str:
        state, fees = self.blocks[-1].state, signed.fees
        nonce = state.nonces.get(signed.sender, 0)
        if self._receipt(hex_text(signed.hash)) is not None:
            return "already known"
        if signed.nonce != nonce:
            return "nonce too low" if signed.nonce < nonce else "nonce too high"
        if fees.max_fee_per_gas < max(self.base_fee, fees.max_priority_fee_per_gas):
            return "max fee per gas less than block base fee"
        if signed.call.value + signed.gas * fees.max_fee_per_gas > state.balances.get(signed.sender, 0):
            return "insufficient funds for gas * price + value"
        return ""

    def _logs(self, request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        blocks = self.blocks[int(request["fromBlock"], 16) :]
        receipts = (receipt for block in blocks for receipt in block.receipts.values())
        return wanted_logs(request, (log for receipt in receipts for log in receipt["logs"]))


def wanted_logs(request: Mapping[str, Any], logs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of these logs that an `eth_getLogs` of several addresses asks for."""
    first, last = int(request["fromBlock"], 16), int(request["toBlock"], 16)
    addresses = set(map(as_bytes, request["address"]))
    topics = [
        each and frozenset(map(as_bytes, [each] if isinstance(each, str) else each)) for each in request["topics"]
    ]
    return [
        log
        for log in logs
        if first <= log["blockNumber"] <= last and log["address"] in addresses and has_topics(log["topics"], topics)
    ]
