"""A chain for whole operations, with accounts, ether and a clock: pyrevm keeps what a call has changed."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyrevm

from forcemove.protocol.types import ETHER
from tests.evm import artifact, function_selector
from tests.parity import core_abi as abi

GENESIS = 1_800_000_000
_GAS = 30_000_000
_DEPLOYER = bytes(19) + b"\xde"


class ChainLog(NamedTuple):
    """One log: who logged it, its topics, its data."""

    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


class Receipt(NamedTuple):
    """What a transaction came to: `output` is what it returned or reverted with; nothing where the gas ran out."""

    success: bool
    output: bytes
    logs: tuple[ChainLog, ...]


class Chain:
    """In process, without blocks: signatures and nonces do not exist, anyone named as sender sends, and nobody pays
    for gas."""

    chain_id = 1

    def __init__(self) -> None:
        self._evm = pyrevm.EVM(gas_limit=2**62, spec_id="CANCUN")
        self._now = 0
        self.travel_to(GENESIS)

    @property
    def now(self) -> int:
        """The time of the block that the next transaction lands in."""
        return self._now

    def travel_to(self, time: int) -> None:
        """What follows happens in a block of this time."""
        self._now = time
        self._evm.set_block_env(pyrevm.BlockEnv(timestamp=time))

    def deploy(self, name: str) -> bytes:
        """Deploy an artifact; its address."""
        address: str = self._evm.deploy(_hex(_DEPLOYER), bytes.fromhex(artifact(name)["bytecode"][2:]))
        return bytes.fromhex(address[2:])

    def transact(self, sender: bytes, to: bytes, data: bytes, value: int = 0, gas: int = _GAS) -> Receipt:
        """Send a transaction. What it changes stays, unless it reverts."""
        try:
            output = self._evm.message_call(_hex(sender), _hex(to), data, value=value, gas=gas)
        except RuntimeError as error:
            return Receipt(False, _revert_data(str(error)), ())
        result: Any = self._evm.result
        return Receipt(True, bytes(output), tuple(map(_log, result.logs)))

    def static(self, to: bytes, data: bytes) -> bytes:
        """What a static call that succeeds returns."""
        return bytes(self._evm.message_call(_hex(_DEPLOYER), _hex(to), data, is_static=True))

    def ether(self, account: bytes) -> int:
        """What an account has, in wei."""
        return int(self._evm.get_balance(_hex(account)))

    def call(self, contract: str, function: str, at: bytes, *parts: bytes | abi.Tail) -> bytes:
        """A static call of a function by name."""
        return self.static(at, function_selector(contract, function) + abi.arguments(*parts))

    def send(self, sender: bytes, contract: str, function: str, at: bytes, *parts: bytes | abi.Tail) -> Receipt:
        """Send a transaction that succeeds."""
        receipt = self.transact(sender, at, function_selector(contract, function) + abi.arguments(*parts))
        assert receipt.success, (contract, function, receipt.output.hex())
        return receipt

    def balance(self, account: bytes, asset: bytes = ETHER) -> int:
        """In ether or of a token."""
        if asset == ETHER:
            return self.ether(account)
        return int.from_bytes(self.call("TestToken", "balanceOf", asset, abi.address(account)), "big")

    def enrich(self, account: bytes, amount: int = 10**30) -> None:
        """Give an account ether out of nowhere."""
        self._evm.set_balance(_hex(account), amount)

    def store(self, account: bytes, slot: bytes, value: int) -> None:
        """Write a storage word of a contract."""
        self._evm.insert_account_storage(_hex(account), int.from_bytes(slot, "big"), value)

    def snapshot(self) -> Any:
        """For `revert`."""
        return self._evm.snapshot()

    def revert(self, snapshot: Any) -> None:
        """To what was at the snapshot."""
        self._evm.revert(snapshot)


def _hex(address: bytes) -> str:
    return "0x" + address.hex()


def _log(log: Any) -> ChainLog:
    _, data = log.data
    return ChainLog(
        bytes.fromhex(log.address[2:]), tuple(bytes.fromhex(topic[2:]) for topic in log.topics), bytes(data)
    )


def _revert_data(text: str) -> bytes:
    if text.startswith("Halt { reason: OutOfGas"):
        return b""
    before, found, after = text.partition("output: 0x")
    assert found, f"the EVM halted: {text}"
    assert before.startswith("Revert"), f"the EVM halted: {text}"
    return bytes.fromhex(after.removesuffix(" }"))
