"""What is read of one chain through one node: its clock, blocks, accounts, calls and logs. Knows no contract."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from forcemove.chain.answers import BlockHeader, RawLog, Topic, read_header, read_logs
from forcemove.chain.asking import Steps, ask, ask_now, asking
from forcemove.chain.batching import BatchingRpc
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, NoTransientStorage
from forcemove.chain.prices import OSAKA, PROBE, PROBE_GAS, Prices, prices_by_slot
from forcemove.chain.reverts import NO_ERRORS, ErrorTable
from forcemove.chain.rpc import POSITION_BITS, BatchTransport, Reverted, Rpc, RpcTransport, as_hash, as_number
from forcemove.chain.transactions import Call, without_funds
from forcemove.chain.worker import EndpointWorker
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.types import ZERO_ADDRESS

_MOST_REFUSALS = 64
"""Ranges of blocks that a node may refuse in one reading of logs: enough to halve any range down to one block."""
_MOST_LOGS = 50_000
_MOST_LOG_DATA = 32 * 2**20
"""Bytes of log data in one reading."""
_PRICED_SECONDS = 600.0
"""For so long prices are not asked for again; a fork comes once in months."""
_TRANSIENT_PROBE = bytes.fromhex("6a 600160005d 60005c 6000f3 600052 600b 6015 6000 f0 3b 600052 60206000f3")
"""Creation code that returns the size of a contract that it creates (push, mstore, create, extcodesize, mstore,
return). That one writes 1 to transient storage, and gets the size that it reads there (tstore, tload, return): 1, or 0
where the chain does not know these instructions, so that it is not created."""


class ReadingChain:
    """What can be asked of one chain; `Chain` sends, too.

    Whatever the node answers, each method returns a well-formed value or raises one of this package's errors; whether
    the value is true it does not know.
    """

    _anyone = ZERO_ADDRESS
    """The sender of calls that only read, where it does not matter."""
    prices = OSAKA
    """What gas costs here, as far as that was asked for."""
    _priced_until = 0.0

    def __init__(self, transport: RpcTransport, endpoint: str, *, expected_chain_id: int | None = None) -> None:
        """`transport`: carries what is asked. `endpoint` names the node in errors. With `expected_chain_id` nothing is
        asked yet: the first request finds out whether the node is there and of that chain (see `Rpc.expect_chain`), so
        that one that is away can be waited for. Without it the node is asked now. Raises `Unreachable`,
        `NotAnEthereumEndpoint`."""
        self.transport = transport
        if isinstance(transport, BatchTransport):
            self.rpc: Rpc = BatchingRpc(transport, endpoint)
        else:
            self.rpc = Rpc(transport, endpoint)
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
        answer = yield from ask("eth_getBlockByNumber", block_text(number), False)
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
        return self._data("eth_getCode", hex_text(address), block_text(block))

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
            return (yield from self._data("eth_call", self._request(call, sender or self._anyone), block_text(block)))
        except Reverted as reverted:
            raise errors.decode(reverted.data, call.to or ZERO_ADDRESS) from None

    @asking
    def require_transient_storage(self) -> Steps[None]:
        """Refuse a chain that proves to have no transient storage (EIP-1153), which the contracts need to pay out. A
        node that cannot say proves nothing. Raises `NoTransientStorage`, and as `Rpc.ask`."""
        with suppress(EndpointFailed, Reverted):
            request = self._request(Call(None, _TRANSIENT_PROBE), self._anyone)
            size = yield from self._data("eth_call", request, "latest")
            if size == bytes(32):
                raise NoTransientStorage(self.endpoint)

    @asking
    def ask_prices(self) -> Steps[Prices]:
        """What gas costs here, by what making a slot of storage costs: asked for once in ten minutes, and known as
        `prices` from then on. A node that cannot say leaves it as it was. Raises as `Rpc.ask`."""
        if time.monotonic() >= self._priced_until:
            request = self._request(Call(None, PROBE), self._anyone) | {"gas": hex(PROBE_GAS)}
            with suppress(EndpointFailed, Reverted):
                answer = yield from self._data("eth_call", request, "latest")
                self.prices = prices_by_slot(answer) or self.prices
            self._priced_until = time.monotonic() + _PRICED_SECONDS
        return self.prices

    @asking
    def simulate(self, call: Call, sender: bytes, errors: ErrorTable = NO_ERRORS) -> Steps[None]:
        """Raise what the call would fail with, were it sent now; the same errors as `call`."""
        try:
            yield from self.call.steps(call, sender, errors, block="pending")
        except EndpointFailed as error:
            raise without_funds(error, sender) or error from None

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

    def _request(self, call: Call, sender: bytes) -> dict[str, str]:
        request = {"from": hex_text(sender), "data": hex_text(call.data), "value": hex(call.value)}
        return request if call.to is None else request | {"to": hex_text(call.to)}


def _topic(topic: Topic) -> str | list[str] | None:
    if topic is None:
        return None
    return hex_text(topic) if isinstance(topic, bytes) else list(map(hex_text, topic))


def block_text(number: int | str) -> str:
    """A block's number, or its name such as "latest", as nodes take it."""
    return hex(number) if isinstance(number, int) else number
