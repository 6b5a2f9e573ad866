"""One chain: all that is read of it, and transactions from signing to the receipt. All endpoints of a chain are asked
at once: one that hangs is not waited for where another answers. Knows no contract.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Self, TypeVar

from forcemove.chain.answers import (
    PRICE_BITS,
    BlockHeader,
    LogPlace,
    RawLog,
    Receipt,
    read_base_fee,
    read_receipt,
    read_simulated,
)
from forcemove.chain.asking import Steps, ask, ask_now, asking
from forcemove.chain.errors import (
    CannotTravel,
    EndpointFailed,
    NotMined,
    TransactionRefused,
    TransactionReverted,
    Unreachable,
)
from forcemove.chain.prices import MAX_TX_GAS
from forcemove.chain.quirks import Meaning, means
from forcemove.chain.reading import ReadingChain, block_text
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.chain.rpc import Reverted, making_sense
from forcemove.chain.task_queue import Priority
from forcemove.chain.threads import wait
from forcemove.chain.transactions import (
    Call,
    Fees,
    SignedTransaction,
    contract_address,
    sign_transaction,
    without_funds,
)
from forcemove.errors import ForcemoveError
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ZERO_ADDRESS

__all__ = [
    "BlockHeader",
    "Call",
    "Chain",
    "Fees",
    "LogPlace",
    "MAX_TX_GAS",
    "RawLog",
    "Receipt",
    "SignedTransaction",
    "answering",
    "answers",
    "contract_address",
    "poll",
]

_GWEI = 10**9
_DEFAULT_TIP = _GWEI
_FIRST_POLL_SECONDS = 0.01
_LAST_POLL_SECONDS = 1.0


class Chain(ReadingChain):
    """One chain. Subclasses for local chains override what they do better.

    Whatever the node answers, each method returns a well-formed value or raises one of this package's errors; whether
    the value is true it does not know.
    """

    can_travel = False
    """Whether `travel_to` moves the clock."""

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
        nonce = self.nonce_of(key.address, block="pending")
        gas = self.gas_for(call, key.address, errors, self.ask_prices().max_tx_gas)
        return self.sign_as(call, key, nonce, gas, fees or self.fees())

    @asking
    def broadcast(self, signed: SignedTransaction) -> Steps[None]:
        """Send a transaction to the node; that the node has it already is not a failure.

        Raises `InsufficientFunds`, `TransactionRefused`.
        """
        try:
            yield from ask("eth_sendRawTransaction", hex_text(signed.raw))
        except EndpointFailed as error:
            if means(Meaning.HAS_IT, message=error.reason):
                return
            raise (without_funds(error, signed.sender) or TransactionRefused(signed.hash, error.reason)) from None

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
        return self._number("eth_getTransactionCount", hex_text(account), block_text(block), bits=64)

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
            raise without_funds(error, sender) or error from None

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

    def sign_as(self, call: Call, key: Key, nonce: int, gas: int, fees: Fees) -> SignedTransaction:
        """Sign a transaction with every field given; the node is not asked.

        - `call`: what the transaction does.
        - `key`: of the sender.
        - `nonce`: of the sender's account.
        - `gas`: limit, in units of gas.
        - `fees`: wei for a unit of gas.
        """
        return sign_transaction(self.chain_id, call, key, nonce, gas, fees)

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
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reverted(receipt: Receipt[RawLog], reason: ForcemoveError | None) -> TransactionReverted:
    return TransactionReverted(receipt.transaction_hash, receipt.block_number, receipt.gas_used, reason)


# ---------------------------------------------------------------------------------------------------- several endpoints

T = TypeVar("T")
_LONGEST, _GRACE = 15.0, 2.0
"""Seconds for which the first answer is waited for; and that the other endpoints have once one has answered."""


def answers(chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]]) -> list[T]:
    """The answers of the endpoints that answer, at least one, in their order. Once one has answered, the others are not
    waited for much longer. Raises the first endpoint's error where none answers."""
    return list(_answered(chains, ask).values())


def answering(chains: Sequence[Chain]) -> list[Chain]:
    """The endpoints that answer now. Raises as `answers`."""
    return list(_answered(chains, lambda chain: chain.block_number.steps()))


def poll(
    chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]], is_enough: Callable[[T], bool] | None = None
) -> tuple[dict[Chain, T], dict[Chain, BaseException]]:
    """What each endpoint has answered, and how each has failed, as of `answers`; one that is late is in neither.
    `is_enough`: of an answer, whether no other is waited for any longer; all are while there is none."""
    begun = {chain: chain.worker.begin(ask(chain), Priority.SHOW) for chain in chains}
    waiting, until = set(begun.values()), time.monotonic() + _LONGEST
    while waiting and (left := until - time.monotonic()) > 0:
        ended, waiting = wait(waiting, left)
        found = [each.result() for each in ended if each.exception() is None]
        if found and (is_enough is None or any(map(is_enough, found))):
            until = min(until, time.monotonic() + (_GRACE if is_enough is None else 0.0))
    for each in waiting:
        each.cancel()
    errors = {chain: each.exception() for chain, each in begun.items() if each not in waiting}
    answered = {chain: begun[chain].result() for chain, error in errors.items() if error is None}
    return answered, {chain: error for chain, error in errors.items() if error is not None}


def _answered(chains: Sequence[Chain], ask: Callable[[Chain], Steps[T]]) -> dict[Chain, T]:
    found, errors = poll(chains, ask)
    if not found:
        raise next(iter(errors.values()), Unreachable(chains[0].endpoint, "it did not answer in time"))
    return found
