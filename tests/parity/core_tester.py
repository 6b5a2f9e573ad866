"""The same chain on eth-tester: slow, but with real transactions, blocks and signatures, and another EVM (py-evm)."""

from __future__ import annotations

from typing import Any

from eth_tester import EthereumTester, PyEVMBackend
from eth_tester.exceptions import TransactionFailed

from forcemove.chain.reverts import revert_data
from forcemove.protocol.signing import Key
from tests.evm import artifact
from tests.parity.core_chain import Chain, ChainLog, Receipt
from tests.protocol.builders import ALICE, BOB, CAROL, MALLORY

_PEOPLE: tuple[Key, ...] = (ALICE, BOB, CAROL, MALLORY)
_GAS = 12_000_000


class EthTesterChain(Chain):
    """Alice, Bob, Carol and Mallory have accounts there."""

    def __init__(self) -> None:
        account = {"balance": 10**30, "nonce": 0, "code": b"", "storage": {}}
        genesis = {person.address: account for person in _PEOPLE}
        self._tester = EthereumTester(PyEVMBackend(genesis_state=genesis))
        for person in _PEOPLE:
            self._tester.add_account("0x" + person.secret.hex())
        self.chain_id = int(self._tester.backend.chain.chain_id)

    @property
    def now(self) -> int:
        return int(self._tester.get_block_by_number("pending")["timestamp"])

    def travel_to(self, time: int) -> None:
        if time > self.now:
            self._tester.time_travel(time)

    def deploy(self, name: str) -> bytes:
        receipt = self._mined({"from": _hex(ALICE.address), "data": artifact(name)["bytecode"]})
        return bytes.fromhex(receipt["contract_address"][2:])

    def transact(self, sender: bytes, to: bytes, data: bytes, value: int = 0, gas: int = _GAS) -> Receipt:
        request = {"from": _hex(sender), "to": _hex(to), "data": _hex(data), "value": value, "gas": gas}
        try:
            output = bytes.fromhex(self._tester.call(request)[2:])
        except TransactionFailed as error:
            assert not self._mined(request)["status"]
            return Receipt(False, revert_data(error) or b"", ())
        receipt = self._mined(request)
        assert receipt["status"]
        return Receipt(True, output, tuple(map(_log, receipt["logs"])))

    def _mined(self, request: dict[str, Any]) -> Any:
        prices = {"gas": _GAS, "max_fee_per_gas": 10**10, "max_priority_fee_per_gas": 0}
        return self._tester.get_transaction_receipt(self._tester.send_transaction(prices | request))

    def static(self, to: bytes, data: bytes) -> bytes:
        output: str = self._tester.call({"from": _hex(ALICE.address), "to": _hex(to), "data": _hex(data), "gas": _GAS})
        return bytes.fromhex(output[2:])

    def ether(self, account: bytes) -> int:
        return int(self._tester.get_balance(_hex(account)))

    def enrich(self, account: bytes, amount: int = 10**30) -> None:
        """Everybody who needs ether has it from the beginning."""
        assert self.ether(account) >= 10**29, amount


def _hex(data: bytes) -> str:
    return "0x" + data.hex()


def _log(log: Any) -> ChainLog:
    return ChainLog(_bytes(log["address"]), tuple(map(_bytes, log["topics"])), _bytes(log["data"]))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text[2:])
