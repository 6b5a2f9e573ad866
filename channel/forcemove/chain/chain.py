"""One chain: its clock, its accounts, calls, and transactions from signing to the receipt. Knows no contract."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from forcemove.chain.answers import (
    PRICE_BITS,
    BlockHeader,
    LogPlace,
    RawLog,
    Receipt,
    Topic,
    read_base_fee,
    read_header,
    read_logs,
    read_receipt,
    read_simulated,
)
from forcemove.chain.asking import Steps, ask, ask_now, asking
from forcemove.chain.batching import BatchingRpc
from forcemove.chain.errors import (
    CannotTravel,
    EndpointFailed,
    InsufficientFunds,
    NotAnEthereumEndpoint,
    NotMined,
    NoTransientStorage,
    TransactionRefused,
    TransactionReverted,
)
from forcemove.chain.limits import keeping_recursion_limit
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.chain.rpc import POSITION_BITS, Reverted, Rpc, as_hash, as_number, making_sense
from forcemove.chain.worker import EndpointWorker
from forcemove.errors import ForcemoveError
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ZERO_ADDRESS

if TYPE_CHECKING:
    from web3 import Web3

__all__ = [
    "MAX_TX_GAS",
    "BlockHeader",
    "Call",
    "Chain",
    "Fees",
    "LogPlace",
    "RawLog",
    "Receipt",
    "SignedTransaction",
    "contract_address",
]

MAX_TX_GAS = 2**24
"""No chain takes more gas in one transaction (EIP-7825)."""
_GWEI = 10**9
_DEFAULT_TIP = _GWEI
_FIRST_POLL_SECONDS = 0.01
_LAST_POLL_SECONDS = 1.0
_MOST_REFUSALS = 64
"""Ranges of blocks that a node may refuse in one reading of logs: enough to halve any range down to one block."""
_MOST_LOGS = 50_000
_MOST_LOG_DATA = 32 * 2**20
"""Bytes of log data in one reading."""
_PROBE = bytes.fromhex("6a 600160005d 60005c 6000f3 600052 600b 6015 6000 f0 3b 600052 60206000f3")
"""Creation code that returns the size of a contract that it creates (push, mstore, create, extcodesize, mstore,
return). That one writes 1 to transient storage, and gets the size that it reads there (tstore, tload, return): 1, or 0
where the chain does not know these instructions, so that it is not created."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a contract: `to` (20 bytes; None creates a contract), calldata, and the wei sent along."""

    to: bytes | None
    data: bytes
    value: int = 0


@dataclass(frozen=True, slots=True)
class Fees:
    """The highest price of a unit of gas, in wei (EIP-1559). `is_legacy`: the chain has no base fee, and both fields
    are the price."""

    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    is_legacy: bool = False


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A transaction ready to be sent, with what is needed to replace it. `hash` is 32 bytes, `raw` the bytes for the
    node."""

    call: Call
    sender: bytes
    nonce: int
    gas: int
    fees: Fees
    hash: bytes
    raw: bytes


class Chain:
    """One chain over web3. Subclasses for local chains override what they do better.

    Whatever the node answers, each method returns a well-formed value or raises one of this package's errors; whether
    the value is true it does not know.
    """

    can_travel = False
    """Whether `travel_to` moves the clock."""
    _anyone = ZERO_ADDRESS
    """The sender of calls that only read, where it does not matter."""

    def __init__(self, web3: Web3, endpoint: str, *, expected_chain_id: int | None = None) -> None:
        """`endpoint` names the node in errors. With `expected_chain_id` nothing is asked yet: the first request finds
        out whether the node is there and of that chain (see `Rpc.expect_chain`), so that one that is away can be waited
        for. Without it the node is asked now. Raises `Unreachable`, `NotAnEthereumEndpoint`."""
        self.web3 = web3
        self.rpc = BatchingRpc(web3, endpoint) if hasattr(web3.provider, "make_requests") else Rpc(web3, endpoint)
        if expected_chain_id is None:
            self.identify()
        else:
            self.expect(expected_chain_id)

    @property
    def endpoint(self) -> str:
        """The node's name, without secrets."""
        return self.rpc.endpoint

    @cached_property
    def worker(self) -> EndpointWorker:
        """What asks the node where its answers are not waited for, or other endpoints are asked, too."""
        return EndpointWorker(self)

    @asking
    def identify(self) -> Steps[int]:
        """Ask the node for its chain's id, and expect that chain from now on."""
        try:
            self.expect((yield from self._number("eth_chainId")))
        except EndpointFailed as error:
            raise NotAnEthereumEndpoint(self.endpoint, error.reason) from None
        return self.chain_id

    def expect(self, chain_id: int) -> None:
        """Expect the node to be of this chain, see `Rpc.expect_chain`."""
        self.chain_id = chain_id
        self.rpc.expect_chain(chain_id)

    # ---------------------------------------------------------------------------------------------------- reading

    def now(self) -> int:
        """The time of the latest block, in seconds. The next transaction's block is later."""
        return ask_now(self.rpc, self._time_of("latest"))

    def next_time(self) -> int:
        """The block time that a transaction sent now may get: that of the pending block, where the node has one. On a
        chain without traffic the latest block may be old, and deadlines pass all the same."""
        try:
            return max(self.now(), ask_now(self.rpc, self._time_of("pending")))
        except EndpointFailed:
            return self.now()

    def _time_of(self, block: str) -> Steps[int]:
        found = yield from self.block.steps(block)
        return as_number(found["timestamp"], POSITION_BITS)

    def _number(self, method: str, *params: Any, bits: int = 256) -> Steps[int]:
        return self.rpc.as_number(method, (yield from ask(method, *params)), bits)

    def _data(self, method: str, *params: Any) -> Steps[bytes]:
        return self.rpc.as_data(method, (yield from ask(method, *params)))

    @asking
    def block_number(self) -> Steps[int]:
        """The number of the latest block."""
        return self._number("eth_blockNumber", bits=POSITION_BITS)

    @asking
    def block(self, number: int | str) -> Steps[Mapping[str, Any]]:
        """A block as the node gives it, by number or by "latest" and the like. Raises `EndpointFailed` on none."""
        answer = yield from ask("eth_getBlockByNumber", _block(number), False)
        if not isinstance(answer, Mapping):
            raise EndpointFailed("eth_getBlockByNumber", f"there is no block {number}")
        return answer

    @asking
    def header(self, number: int | str = "latest") -> Steps[BlockHeader]:
        """The header of a mined block, by number or "latest". Raises as `block`, and `NotAnEthereumEndpoint` where the
        node answers with another block than the one asked for."""
        return read_header((yield from self.block.steps(number)), number if isinstance(number, int) else None)

    @asking
    def block_hash(self, number: int) -> Steps[bytes]:
        """The hash of the block of this number, which a reorganisation changes."""
        found = yield from self.block.steps(number)
        return as_hash(found["hash"])

    @asking
    def balance(self, address: bytes) -> Steps[int]:
        """The ether of an account, in wei."""
        return self._number("eth_getBalance", hex_text(address), "latest")

    @asking
    def code(self, address: bytes, *, block: int | str = "latest") -> Steps[bytes]:
        """The runtime code at an address; empty where there is no contract."""
        return self._data("eth_getCode", hex_text(address), _block(block))

    @asking
    def call(
        self,
        call: Call,
        sender: bytes | None = None,
        errors: ErrorTable = NO_ERRORS,
        *,
        block: int | str = "latest",
    ) -> Steps[bytes]:
        """What a call returns, without a transaction. Raises the errors of the table and those of `ErrorTable.decode`.

        In block "pending" the clock is that of the next block: what a transaction would meet.
        """
        try:
            return (yield from self._data("eth_call", self._request(call, sender or self._anyone), _block(block)))
        except Reverted as reverted:
            raise errors.decode(reverted.data, call.to or ZERO_ADDRESS) from None

    @asking
    def require_transient_storage(self) -> Steps[None]:
        """Refuse a chain that proves to have no transient storage (EIP-1153), which the contracts need to pay out. A
        node that cannot say proves nothing. Raises `NoTransientStorage`, and as `Rpc.ask`."""
        with suppress(EndpointFailed, Reverted):
            size = yield from self._data("eth_call", self._request(Call(None, _PROBE), self._anyone), "latest")
            if size == bytes(32):
                raise NoTransientStorage(self.endpoint)

    @asking
    def simulate(self, call: Call, sender: bytes, errors: ErrorTable = NO_ERRORS) -> Steps[None]:
        """Raise what the call would fail with, were it sent now; the same errors as `call`."""
        try:
            yield from self.call.steps(call, sender, errors, block="pending")
        except EndpointFailed as error:
            raise _without_funds(error, sender) or error from None

    @asking
    def logs(
        self, address: bytes, topics: Sequence[Topic], from_block: int, to_block: int | None = None
    ) -> Steps[list[RawLog]]:
        """The logs of a contract in a range of blocks (inclusive; None is the latest), in their order.

        `topics`: what each topic must be, one of several, or None where anything goes. A range that is too much for the
        node is halved. Raises `NotAnEthereumEndpoint` where it answers with what was not asked for; `EndpointFailed`
        where it refuses one block alone, or too often, or has more logs than are read at once.
        """
        last = (yield from self.block_number.steps()) if to_block is None else to_block
        found: list[RawLog] = []
        first, width, refusals, size = from_block, last - from_block + 1, 0, 0
        while first <= last:
            end = min(first + width - 1, last)
            try:
                more = yield from self.logs_in.steps(address, topics, first, end)
            except EndpointFailed:
                refusals += 1
                if first == end or refusals > _MOST_REFUSALS:
                    raise
                width = (end - first + 2) // 2
                continue
            first, size = end + 1, size + sum(len(each.data) for each in more)
            found.extend(more)
            if len(found) > _MOST_LOGS or size > _MOST_LOG_DATA:
                raise EndpointFailed("eth_getLogs", f"it has more than {_MOST_LOGS} logs, or more data than are read")
        return found

    @asking
    def logs_in(self, address: bytes, topics: Sequence[Topic], first: int, last: int) -> Steps[list[RawLog]]:
        """The same in one request, which is not halved where it is too much for the node. Raises `EndpointFailed`
        then."""
        request = {
            "address": [hex_text(address)],
            "topics": [_topic(each) for each in topics],
            "fromBlock": hex(first),
            "toBlock": hex(last),
        }
        return read_logs((yield from ask("eth_getLogs", request)), address, topics, first, last)

    # --------------------------------------------------------------------------------------------------- sending

    def send(self, call: Call, key: Key, errors: ErrorTable = NO_ERRORS, *, timeout: float = 120.0) -> Receipt[RawLog]:
        """Sign, send and wait: `sign`, `broadcast`, `wait`."""
        signed = self.sign(call, key, errors)
        self.broadcast(signed)
        return self.wait(signed, errors, timeout=timeout)

    def sign(
        self, call: Call, key: Key, errors: ErrorTable = NO_ERRORS, *, fees: Fees | None = None
    ) -> SignedTransaction:
        """Prepare a transaction: simulated, with the next nonce, gas with headroom, and these fees or those of the
        moment.

        Raises the typed error that the transaction would fail with, and `InsufficientFunds`.
        """
        nonce, gas = self.nonce_of(key.address, block="pending"), self.gas_for(call, key.address, errors)
        return self.sign_as(call, key, nonce, gas, fees or self.fees())

    @asking
    def broadcast(self, signed: SignedTransaction) -> Steps[None]:
        """Send a transaction to the node; that the node has it already is no failure.

        Raises `InsufficientFunds`, `TransactionRefused`.
        """
        try:
            yield from ask("eth_sendRawTransaction", hex_text(signed.raw))
        except EndpointFailed as error:
            if "already known" in error.reason.lower() or "already imported" in error.reason.lower():
                return
            raise (_without_funds(error, signed.sender) or TransactionRefused(signed.hash, error.reason)) from None

    def wait(
        self, signed: SignedTransaction, errors: ErrorTable = NO_ERRORS, *, timeout: float = 120.0
    ) -> Receipt[RawLog]:
        """Wait until the transaction is mined; `timeout` is in real seconds.

        Raises `NotMined` after that, `TransactionReverted` where it failed.
        """
        receipt, has_failed = self._mined(signed.hash, timeout)
        if has_failed:
            raise _reverted(receipt, self._reason(signed, errors, receipt.block_number))
        return receipt

    def wait_for(self, transaction_hash: bytes, *, timeout: float = 120.0) -> Receipt[RawLog]:
        """The same for a transaction of which only the hash is known, so that a failure has no reason."""
        receipt, has_failed = self._mined(transaction_hash, timeout)
        if has_failed:
            raise _reverted(receipt, None)
        return receipt

    @asking
    def receipt(self, transaction_hash: bytes) -> Steps[tuple[Receipt[RawLog], bool] | None]:
        """The receipt of a transaction, and whether it failed; None where the node has it in no block."""
        answer = yield from ask("eth_getTransactionReceipt", hex_text(transaction_hash))
        return None if answer is None else read_receipt(answer, transaction_hash)

    def _mined(self, transaction_hash: bytes, timeout: float) -> tuple[Receipt[RawLog], bool]:
        """A receipt, and whether the transaction failed."""
        deadline, pause = time.monotonic() + timeout, _FIRST_POLL_SECONDS
        while True:
            if (found := self.receipt(transaction_hash)) is not None:
                return found
            if time.monotonic() + pause > deadline:
                raise NotMined(transaction_hash, timeout)
            time.sleep(pause)
            pause = min(2 * pause, _LAST_POLL_SECONDS)

    @asking
    def knows(self, transaction_hash: bytes) -> Steps[bool]:
        """Whether the node has the transaction, mined or waiting."""
        return (yield from ask("eth_getTransactionByHash", hex_text(transaction_hash))) is not None

    @asking
    def fees(self) -> Steps[Fees]:
        """Fees that the next few blocks accept: twice the base fee, and the tip that the node suggests; the node's
        price of gas where there is no base fee."""
        base = read_base_fee((yield from self.block.steps("latest")))
        if base is None:
            price = yield from self._number("eth_gasPrice", bits=PRICE_BITS)
            return Fees(price, price, is_legacy=True)
        try:
            tip = yield from self._number("eth_maxPriorityFeePerGas", bits=PRICE_BITS)
        except EndpointFailed:
            tip = _DEFAULT_TIP
        return Fees(2 * base + tip, tip)

    @asking
    def nonce_of(self, account: bytes, *, block: int | str = "latest") -> Steps[int]:
        """The number of an account's (20 bytes) mined transactions; in block "pending", the waiting ones are counted,
        too."""
        return self._number("eth_getTransactionCount", hex_text(account), _block(block), bits=64)

    @asking
    def gas_for(self, call: Call, sender: bytes, errors: ErrorTable, max_gas: int = MAX_TX_GAS) -> Steps[int]:
        """A gas limit: the node's estimate and a quarter more, because others' transactions may come first. `max_gas`:
        what the estimate may be; some nodes begin with a whole block's gas, and refuse that as too much."""
        estimate = yield from self._estimate(call, sender, errors, max_gas)
        return estimate + estimate // 4 + 30_000

    def _estimate(self, call: Call, sender: bytes, errors: ErrorTable, max_gas: int = MAX_TX_GAS) -> Steps[int]:
        request = self._request(call, sender) | {"gas": hex(max_gas)}
        try:
            return (yield from self._number("eth_estimateGas", request, "pending", bits=64))
        except Reverted as reverted:
            raise errors.decode(reverted.data, call.to or ZERO_ADDRESS) from None
        except EndpointFailed as error:
            raise _without_funds(error, sender) or error from None

    def gas_used(self, call: Call, sender: bytes, errors: ErrorTable = NO_ERRORS) -> int:
        """The gas that a receipt would name, were the call mined in the next block; no limit to send it with. By
        `eth_simulateV1` (execution-apis); where the node has none of it, by its estimate, from which nothing is taken
        for what the chain gives back. Raises as `simulate`. `sender`: 20 bytes."""
        time_ = {"time": hex(max(self.next_time(), self.now() + 1))}
        block = {"blockOverrides": time_, "calls": [self._request(call, sender)]}
        try:
            answer = self.rpc.request("eth_simulateV1", {"blockStateCalls": [block]}, "latest")
        except EndpointFailed:
            return ask_now(self.rpc, self._estimate(call, sender, errors))
        with making_sense(self.endpoint):
            used, revert_data = read_simulated(answer)
        if revert_data is not None:
            raise errors.decode(revert_data, call.to or ZERO_ADDRESS)
        return used

    def _request(self, call: Call, sender: bytes) -> dict[str, str]:
        request = {"from": hex_text(sender), "data": hex_text(call.data), "value": hex(call.value)}
        return request if call.to is None else request | {"to": hex_text(call.to)}

    def sign_as(self, call: Call, key: Key, nonce: int, gas: int, fees: Fees) -> SignedTransaction:
        """Sign a transaction with every field given; the node is not asked.

        - `call`: what the transaction does.
        - `key`: of the sender.
        - `nonce`: of the sender's account.
        - `gas`: limit, in units of gas.
        - `fees`: wei for a unit of gas.
        """
        with keeping_recursion_limit():
            from eth_account import Account

        transaction: dict[str, Any] = {
            "chainId": self.chain_id,
            "nonce": nonce,
            "gas": gas,
            "value": call.value,
            "data": call.data,
            **_priced(fees),
        }
        if call.to is not None:
            transaction["to"] = call.to
        signed = Account.sign_transaction(transaction, key.secret)
        return SignedTransaction(call, key.address, nonce, gas, fees, bytes(signed.hash), bytes(signed.raw_transaction))

    def _reason(self, signed: SignedTransaction, errors: ErrorTable, block_number: int) -> ForcemoveError | None:
        try:
            self.call(signed.call, signed.sender, errors, block=block_number)
        except ForcemoveError as error:
            return error
        return None

    # ----------------------------------------------------------------------------------------------------- time

    def travel_to(self, time_: int) -> None:
        """Let the next transaction land at exactly `time_` (block time, seconds). Raises `CannotTravel`."""
        raise CannotTravel(self.now(), time_)

    # ------------------------------------------------------------------------------------------------ life cycle

    def close(self) -> None:
        """Let go of whatever the chain holds: processes, sockets."""
        close = getattr(self.web3.provider, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def contract_address(sender: bytes, nonce: int) -> bytes:
    """The address of the contract that `sender` (20 bytes) creates with its transaction `nonce`: the low 20 bytes of
    the hash of the RLP list of both."""
    number = nonce.to_bytes((nonce.bit_length() + 7) // 8, "big")
    if len(number) != 1 or number >= b"\x80":
        number = bytes((0x80 + len(number),)) + number
    payload = b"\x94" + sender + number
    return keccak256(bytes((0xC0 + len(payload),)) + payload)[12:]


def _priced(fees: Fees) -> dict[str, int]:
    if fees.is_legacy:
        return {"gasPrice": fees.max_fee_per_gas}
    return {
        "type": 2,
        "maxFeePerGas": fees.max_fee_per_gas,
        "maxPriorityFeePerGas": fees.max_priority_fee_per_gas,
    }


def _reverted(receipt: Receipt[RawLog], reason: ForcemoveError | None) -> TransactionReverted:
    return TransactionReverted(receipt.transaction_hash, receipt.block_number, receipt.gas_used, reason)


def _without_funds(error: EndpointFailed, account: bytes) -> InsufficientFunds | None:
    said = error.reason.lower()
    if any(words in said for words in ("insufficient funds", "not have enough balance", "cannot afford")):
        return InsufficientFunds(account, error.reason)
    return None


def _topic(topic: Topic) -> str | list[str] | None:
    if topic is None:
        return None
    return hex_text(topic) if isinstance(topic, bytes) else list(map(hex_text, topic))


def _block(number: int | str) -> str:
    return hex(number) if isinstance(number, int) else number
