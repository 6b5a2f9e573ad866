"""Blocks, and what running them one after the other gives, around pyrevm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyrevm

from forcemove.chain.create2 import CUSTOMARY_FACTORY, FACTORY_RUNTIME_CODE
from forcemove.chain.errors import EndpointFailed
from forcemove.chain.local import LOCAL_BALANCE, local_keys
from forcemove.chain.rpc import Reverted
from forcemove.protocol.hashing import keccak256

__all__ = ["CHAIN_ID", "GAS", "Block", "State", "Transaction", "from_hex", "to_hex"]

CHAIN_ID = 1_337
GAS = 16_000_000
_PADDING = 33


@dataclass(frozen=True)
class Transaction:
    """As it was sent. `max_fee`, `tip`: wei for a unit of gas."""

    hash: bytes
    sender: bytes
    to: bytes | None
    data: bytes
    value: int
    nonce: int
    gas: int
    max_fee: int
    tip: int


@dataclass(frozen=True)
class Block:
    """Times are in seconds, fees in wei for a unit of gas."""

    number: int
    hash: bytes
    time: int
    base_fee: int
    transactions: tuple[Transaction, ...] = ()


class State:
    """What running blocks one after the other gives. `logs` and `receipts` are as a node answers with them."""

    def __init__(self) -> None:
        config = pyrevm.CfgEnv(chain_id=CHAIN_ID)
        self.evm: Any = pyrevm.EVM(gas_limit=2**62, spec_id="CANCUN", env=pyrevm.Env(cfg=config))
        for key in local_keys():
            self.evm.set_balance(to_hex(key.address), LOCAL_BALANCE)
        self.evm.insert_account_info(to_hex(CUSTOMARY_FACTORY), pyrevm.AccountInfo(code=FACTORY_RUNTIME_CODE))
        self.height = -1
        self.nonces: dict[bytes, int] = {}
        self.logs: list[dict[str, Any]] = []
        self.receipts: dict[str, dict[str, Any]] = {}

    def run(self, block: Block) -> None:
        self.at(block.number, block.time)
        index = 0
        for transaction in block.transactions:
            index += self._run(block, transaction, index)
        self.height = block.number

    def at(self, number: int, time: int) -> None:
        self.evm.set_block_env(pyrevm.BlockEnv(number=number, timestamp=time))

    def _run(self, block: Block, transaction: Transaction, index: int) -> int:
        """How many logs it has made. One that fails is paid for all the same."""
        sender = to_hex(transaction.sender)
        created, logs, succeeded = None, [], True
        try:
            created = self._perform(transaction)
            logs = [_log(log) for log in self.evm.result.logs]
        except RuntimeError:
            succeeded = False
        self.nonces[transaction.sender] = transaction.nonce + 1
        gas, price = int(self.evm.result.gas_used), min(transaction.max_fee, block.base_fee + transaction.tip)
        self.evm.set_balance(sender, int(self.evm.get_balance(sender)) - gas * price)
        place = {"transactionHash": transaction.hash, "blockNumber": block.number, "blockHash": block.hash}
        kept = [log | place | {"logIndex": index + offset} for offset, log in enumerate(logs)]
        self.logs += kept
        self.receipts[to_hex(transaction.hash)] = place | {
            "gasUsed": gas,
            "effectiveGasPrice": price,
            "contractAddress": created,
            "status": int(succeeded),
            "logs": kept,
        }
        return len(kept)

    def _perform(self, transaction: Transaction) -> bytes | None:
        sender, data, value = to_hex(transaction.sender), transaction.data, transaction.value
        if transaction.to is None:
            return from_hex(self.evm.deploy(sender, data, value=value))
        self.evm.message_call(sender, to_hex(transaction.to), data, value=value, gas=transaction.gas)
        return None

    def code(self, account: str) -> bytes:
        found = self.evm.basic(account)
        code = bytes(found.code or b"")
        # What pyrevm has run it keeps with zeros behind it.
        return code if keccak256(code) == found.code_hash else code[:-_PADDING]

    def call(self, request: Mapping[str, str]) -> bytes:
        """What a call returns; it changes nothing. Raises `Reverted`, `EndpointFailed`."""
        before = self.evm.snapshot()
        data, value = from_hex(request["data"]), int(request["value"], 16)
        try:
            if "to" not in request:
                return from_hex(self.evm.deploy(request["from"], data, value=value))
            return bytes(self.evm.message_call(request["from"], request["to"], data, value=value, gas=GAS))
        except RuntimeError as error:
            raise _as_error(error) from None
        finally:
            self.evm.revert(before)


def _log(log: Any) -> dict[str, Any]:
    _, data = log.data
    return {
        "address": from_hex(log.address),
        "topics": [from_hex(topic) for topic in log.topics],
        "data": bytes(data),
    }


def _as_error(error: RuntimeError) -> Exception:
    if "LackOfFund" in str(error):
        return EndpointFailed("eth_call", "insufficient funds for gas * price + value")
    before, found, after = str(error).partition("output: 0x")
    if found and before.startswith("Revert"):
        return Reverted(bytes.fromhex(after.removesuffix(" }")))
    return EndpointFailed("eth_call", str(error))


def to_hex(data: bytes) -> str:
    return "0x" + data.hex()


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
