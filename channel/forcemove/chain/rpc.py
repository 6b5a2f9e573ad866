"""JSON-RPC requests to one node, and the port that carries them; every failure is raised as a typed error.

A node may be anybody's: whatever it answers, and whatever a library makes of the answer, becomes a value within its
bounds or that endpoint's failure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

from forcemove.chain.endpoint_name import EndpointName
from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint, Unreachable, WrongChain
from forcemove.chain.limits import RequestRate
from forcemove.chain.threads import pause
from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes

CALLS = ("eth_call", "eth_estimateGas")
"""The methods that call: they revert, and may be refused for what they call, too."""


class Reverted(Exception):
    """A call reverted with `data`. Stays inside this package: code that has an error table turns it into an error."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data.hex())
        self.data = data


class StatusRefused(Exception):
    """A server has answered with an HTTP status other than 200, and without a JSON-RPC error. `retry_after`: the
    header, empty where there is none. Stays inside this package."""

    def __init__(self, status: int, retry_after: str) -> None:
        super().__init__(status)
        self.status, self.retry_after = status, retry_after


class RpcTransport(Protocol):
    """Carries JSON-RPC to one node. Whatever fails is raised as a typed error, which names the node without secrets."""

    is_here: bool
    """Whether the chain is in this process, so that it answers at once."""

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """Make one request; the result as the node gave it. Raises `Unreachable`, `NotAnEthereumEndpoint`,
        `EndpointFailed`, `NodeBusy`; for `CALLS` also `Reverted`."""
        ...

    def close(self) -> None:
        """Let go of connections; the next request opens others."""
        ...


@runtime_checkable
class BatchTransport(RpcTransport, Protocol):
    """Carries batches of JSON-RPC 2.0 (section 6), too."""

    def exchange_some(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[object]:
        """Make several requests, each its method and parameters, in one exchange. For each the result, or the error
        that `exchange` raises. Raises the error of the whole, where there are no answers."""
        ...


# ------------------------------------------------------------------------------------------------------------- requests

ValueT = TypeVar("ValueT")
POSITION_BITS = 48
"""Bits of the numbers and times of blocks, and of counts in them: a contract keeps this many of a time, and any journal
can hold them."""
_IDENTIFIED_SECONDS = 5.0
"""For so long an endpoint that has named its chain's id is not asked for it again: its address may lead elsewhere."""
_QUANTITY = re.compile("0x[0-9a-fA-F]{1,64}")
_PATIENCE, _ATTEMPTS = 5.0, 3
"""Seconds for which a request waits where an endpoint wants us to, and how often it is sent."""
_WITHOUT_PENDING = 60.0
"""Seconds for which an endpoint that has refused the block tag "pending" is asked at "latest"."""


class Rpc:
    """Requests to one node. Subclasses override `ask`; the bounds that are checked here hold for them, too."""

    is_here = True
    """Whether the chain is in this process, so that it answers at once."""
    _expected_chain_id: int | None = None
    _identified_until = 0.0
    _last_block, _is_named_since = b"", False
    _name = EndpointName("")
    _busy, _without_pending_until = 0.0, 0.0

    def __init__(self, transport: RpcTransport, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        self._transport, self.is_here = transport, transport.is_here
        self._name = EndpointName(endpoint)
        self.endpoint = self._name.shown

    def expect_chain(self, chain_id: int) -> None:
        """Ask the endpoint for its chain's id before the next request, again after each failure and after some seconds,
        and before each transaction that is sent. While the id is another one, requests raise `WrongChain`."""
        self._expected_chain_id, self._identified_until = chain_id, 0.0

    def on_block(self, hash_: bytes, parent: bytes) -> None:
        """The endpoint shows this as its newest block (hashes of 32 bytes). Where each block since before it has named
        its chain's id is the same as the one before or the next one, it is of that chain by their hashes, and need not
        be asked for its id just now."""
        if self._last_block not in (hash_, parent):
            self._is_named_since = False
        elif self._is_named_since and self._identified_until:
            self._identified_until = time.monotonic() + _IDENTIFIED_SECONDS
        self._last_block = hash_

    def request(self, method: str, *params: Any) -> Any:
        """`ask`; at "latest" where the endpoint refuses the block tag "pending". A call that it refuses for another
        reason would not fail only because it does at "latest". Raises as `ask`."""
        latest = at_latest(params)
        if latest == params or self._is_without_pending:
            return self.ask(method, *latest)
        try:
            return self.ask(method, *params)
        except EndpointFailed as refused:
            try:
                answer = self.ask(method, *latest)
            except Reverted:
                raise refused from None
        if method not in CALLS:  # Hardhat 2 finds the gas of a whole pending block too much for a call
            self._without_pending_until = time.monotonic() + _WITHOUT_PENDING
        return answer

    def request_some(self, requests: Sequence[tuple[str, tuple[Any, ...]]]) -> list[object]:
        """Ask the first of these requests, each its method and parameters, or as many as go out together. For each the
        answer, or the error that `request` raises."""
        method, params = requests[0]
        try:
            return [self.request(method, *params)]
        except (Reverted, ForcemoveError) as error:
            return [error]

    @property
    def _is_without_pending(self) -> bool:
        return time.monotonic() < self._without_pending_until

    def ask(self, method: str, *params: Any) -> Any:
        """One request; the result as the node gave it.

        Raises `Unreachable`, `NotAnEthereumEndpoint`, `EndpointFailed`, `NodeBusy`, `WrongChain`; for calls also
        `Reverted`.
        """
        for _ in range(_ATTEMPTS):
            self._wait_for_its_turn()
            try:
                self._require_chain(method)
                answer = self._transport.exchange(method, params)
            except NodeBusy as busy:
                self._identified_until = 0.0
                self._on_busy(busy)
            except (Unreachable, NotAnEthereumEndpoint):
                self._identified_until = 0.0  # another node may answer at this address from now on
                raise
            else:
                self._rate.on_answered()
                return answer
        raise NodeBusy(self.endpoint, self._busy)

    def _wait_for_its_turn(self, count: int = 1) -> None:
        """Wait for a short time where the endpoint has asked us to, or has refused us when we asked more often; raise
        `NodeBusy` where it is a long one."""
        wait = self._rate.take_turn(time.monotonic(), _PATIENCE, count)
        if wait is None:
            raise NodeBusy(self.endpoint, self._busy)
        if wait:
            pause(wait)

    def _on_busy(self, busy: NodeBusy) -> None:
        self._busy = busy.seconds
        self._rate.on_refused(time.monotonic(), busy.seconds)

    @cached_property
    def _rate(self) -> RequestRate:
        return RequestRate()

    def number(self, method: str, *params: Any, bits: int = 256) -> int:
        """The same, of a request that answers with a quantity of at most this many bits."""
        return self.as_number(method, self.request(method, *params), bits)

    def data(self, method: str, *params: Any) -> bytes:
        """The same, of a request that answers with bytes."""
        return self.as_data(method, self.request(method, *params))

    def as_number(self, method: str, answer: object, bits: int = 256) -> int:
        """Read an answer to this method as a quantity of at most `bits` bits. Raises `NotAnEthereumEndpoint`."""
        return self._read(method, lambda answer: as_number(answer, bits), answer)

    def as_data(self, method: str, answer: object) -> bytes:
        """Read an answer to this method as bytes. Raises `NotAnEthereumEndpoint`."""
        return self._read(method, as_bytes, answer)

    def _require_chain(self, method: str) -> None:
        is_known = time.monotonic() < self._identified_until and method != "eth_sendRawTransaction"
        if is_known or self._expected_chain_id is None or method == "eth_chainId":
            return
        found = self._read("eth_chainId", as_number, self._transport.exchange("eth_chainId", ()))
        if found != self._expected_chain_id:
            self._identified_until = 0.0
            raise WrongChain(self.endpoint, self._expected_chain_id, found)
        self._identified_until = time.monotonic() + _IDENTIFIED_SECONDS
        self._is_named_since = True

    def _read(self, method: str, reader: Callable[[object], ValueT], answer: object) -> ValueT:
        try:
            return reader(answer)
        except (TypeError, ValueError):
            reason = f"{method} was answered with {self._name.hidden_in(repr(answer)):.80}"
            raise NotAnEthereumEndpoint(self.endpoint, reason) from None


@contextmanager
def making_sense(endpoint: str) -> Iterator[None]:
    """Raise `NotAnEthereumEndpoint` where a node's answer cannot be read in the block: any exception of a decoder or of
    a library is the endpoint's failure."""
    try:
        yield
    except (MalformedBytes, InvalidValue) as error:
        raise NotAnEthereumEndpoint(endpoint, f"its answer makes no sense: {error!s:.80}") from None
    except (ForcemoveError, Reverted):
        raise
    except Exception as error:
        raise NotAnEthereumEndpoint(endpoint, f"its answer makes no sense: {error!r:.80}") from None


def at_latest(params: Sequence[Any]) -> tuple[Any, ...]:
    """The same parameters of a request with the block tag "latest" instead of "pending"."""
    return tuple("latest" if each == "pending" else each for each in params)


def as_number(answer: object, bits: int = 256) -> int:
    """A quantity from 0 that fits this many bits: hex on the wire, an integer from eth-tester. Raises `TypeError`,
    `ValueError`."""
    number = _parsed(answer) if isinstance(answer, str) else _integer(answer)
    if number < 0 or number.bit_length() > bits:
        raise ValueError(f"a quantity that is not a number of {bits} bits")
    return number


def _parsed(text: str) -> int:
    if not _QUANTITY.fullmatch(text):  # int() takes "1_000", " 0x1 " and "+1", too
        raise ValueError("no quantity")
    return int(text, 16)


def _integer(answer: object) -> int:
    if type(answer) is not int:
        raise TypeError("not a quantity")
    return answer


def as_bytes(answer: object, length: int | None = None) -> bytes:
    """Bytes, this many where a length is given: hex on the wire, sometimes bytes from eth-tester. Raises `TypeError`,
    `ValueError`."""
    data = bytes(answer) if isinstance(answer, bytes) else _unhexed(answer)
    if length not in (None, len(data)):
        raise ValueError(f"{len(data)} bytes, not {length}")
    return data


def _unhexed(answer: object) -> bytes:
    if not isinstance(answer, str) or not answer.startswith("0x"):
        raise TypeError("not bytes")
    try:
        data = bytes.fromhex(answer[2:])
    except ValueError:
        raise ValueError("not bytes") from None
    if 2 * len(data) + 2 != len(answer):  # fromhex() passes over white space
        raise ValueError("not bytes")
    return data


def as_hash(answer: object) -> bytes:
    """32 bytes, as `as_bytes`."""
    return as_bytes(answer, 32)
