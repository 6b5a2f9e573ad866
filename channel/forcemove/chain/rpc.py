"""JSON-RPC requests to one node through web3's providers; every failure is raised as a typed error.

web3 is the transport alone: its own formatters are not used, since they raise a dozen unrelated exceptions on odd
answers and follow "offchain lookups" that a hostile contract names. A node may be anybody's: whatever it answers, and
whatever a library makes of the answer, becomes a value within its bounds or that endpoint's failure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from http.client import RemoteDisconnected
from ssl import SSLError
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint, TlsFailed, Unreachable, WrongChain
from forcemove.chain.limits import AnswerTooLarge, RequestRate, keeping_recursion_limit
from forcemove.chain.quirks import Meaning, means
from forcemove.chain.reverts import revert_data
from forcemove.connecting import connection_words
from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import RPCEndpoint

__all__ = [
    "POSITION_BITS",
    "Reverted",
    "Rpc",
    "as_bytes",
    "as_hash",
    "as_number",
    "at_latest",
    "making_sense",
    "shown_endpoint",
]

ValueT = TypeVar("ValueT")
POSITION_BITS = 48
"""Bits of the numbers and times of blocks, and of counts in them: a contract keeps this many of a time, and any journal
can hold them."""
_IDENTIFIED_SECONDS = 5.0
"""For so long an endpoint that has named its chain's id is not asked for it again: its address may lead elsewhere."""
_QUANTITY = re.compile("0x[0-9a-fA-F]{1,64}")
_MOST_WORDS = 500
"""Characters of a node's own text that are kept."""
_LEAST_SECRET = 4
"""Characters: a shorter part of a URL is not a secret, and would be found in every text."""
_PATIENCE, _ATTEMPTS = 5.0, 3
"""Seconds for which a request waits where an endpoint wants us to, and how often it is sent."""
_WITHOUT_PENDING = 60.0
"""Seconds for which an endpoint that has refused the block tag "pending" is asked at "latest"."""
_CALLS = ("eth_call", "eth_estimateGas")
"""They may be refused for what they call, too: Hardhat 2 finds the gas of a whole pending block too much for one."""


class Reverted(Exception):
    """A call reverted with `data`. Stays inside this package: code that has an error table turns it into an error."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data.hex())
        self.data = data


def shown_endpoint(endpoint: str) -> str:
    """An endpoint as it may be shown: paths, queries and user names of URLs hold the secrets of node providers."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:  # half an IPv6 address
        return f"{endpoint.partition('://')[0]}://"
    if not parts.netloc:
        return endpoint
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _secrets(endpoint: str) -> re.Pattern[str]:
    """Finds in a text what `shown_endpoint` hides."""
    hidden = endpoint.partition("://")[2].replace(shown_endpoint(endpoint).partition("://")[2], "/", 1)
    parts = sorted(map(unquote, re.split("[/?&=#@:+]", hidden)), key=len, reverse=True)
    secrets = "|".join(re.escape(each) for each in parts if len(each) >= _LEAST_SECRET)
    return re.compile(secrets or "(?!)", re.IGNORECASE)


class Rpc:
    """Requests to one node. Subclasses override `ask`; the bounds that are checked here hold for them, too."""

    is_here = True
    """Whether the chain is in this process, so that it answers at once."""
    _expected_chain_id: int | None = None
    _identified_until = 0.0
    _last_block, _is_named_since = b"", False
    _hidden = _secrets("")
    _busy, _without_pending_until = 0.0, 0.0

    def __init__(self, web3: Web3, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        from web3.providers.base import JSONBaseProvider

        self._web3, self.is_here = web3, not isinstance(web3.provider, JSONBaseProvider)
        self.endpoint, self._hidden = shown_endpoint(endpoint), _secrets(endpoint)

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
        if method not in _CALLS:
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
                answer = self._exchange(method, params)
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
            time.sleep(wait)

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
        found = self._read("eth_chainId", as_number, self._exchange("eth_chainId", ()))
        if found != self._expected_chain_id:
            self._identified_until = 0.0
            raise WrongChain(self.endpoint, self._expected_chain_id, found)
        self._identified_until = time.monotonic() + _IDENTIFIED_SECONDS
        self._is_named_since = True

    def _exchange(self, method: str, params: tuple[Any, ...]) -> Any:
        try:
            return self._web3.manager.request_blocking(cast("RPCEndpoint", method), list(params))
        except Exception as failure:
            raise self._failure(method, failure) from None

    def _failure(self, method: str, failure: Exception) -> Reverted | ForcemoveError:
        """What the providers raise is what their libraries raise: requests, sockets, json, eth-tester, web3 itself."""
        data = revert_data(failure) if method in _CALLS else None
        return self._typed(method, failure) if data is None else Reverted(data)

    def _read(self, method: str, reader: Callable[[object], ValueT], answer: object) -> ValueT:
        try:
            return reader(answer)
        except (TypeError, ValueError):
            reason = f"{method} was answered with {self._shown(repr(answer)):.80}"
            raise NotAnEthereumEndpoint(self.endpoint, reason) from None

    def _shown(self, said: str) -> str:
        """A node's own words without the secrets of its URL, which it may repeat in any encoding."""
        return self._hidden.sub("…", unquote(said[: 8 * _MOST_WORDS]))[:_MOST_WORDS]

    def _typed(self, method: str, failure: Exception) -> ForcemoveError:
        with keeping_recursion_limit():
            from requests.exceptions import HTTPError, InvalidURL, RequestException
            from web3.exceptions import BadResponseFormat, Web3RPCError
            from web3.providers.base import JSONBaseProvider
            from websockets.exceptions import InvalidStatus

            from forcemove.chain.http import refusal

        match failure:
            case MalformedBytes():
                return NotAnEthereumEndpoint(self.endpoint, failure.reason)
            case ForcemoveError():
                return failure
            case AnswerTooLarge():
                return EndpointFailed(method, "its answer is larger than what is read")
            case Web3RPCError():
                return self._refused(method, failure.rpc_response)
            case HTTPError(response=said) | InvalidStatus(response=said) if said is not None:
                return refusal(self.endpoint, method, said.status_code, said.headers.get("Retry-After", ""))
            case BadResponseFormat():
                return NotAnEthereumEndpoint(self.endpoint, "its answer is not JSON-RPC")
            case InvalidURL():
                return Unreachable(self.endpoint, "that is not an address of a node")
            case RequestException() | OSError():
                return _unreachable(self.endpoint, _cause(failure))
            case _ if isinstance(self._web3.provider, JSONBaseProvider):
                return NotAnEthereumEndpoint(self.endpoint, f"its answer makes no sense ({type(failure).__name__})")
            case _:  # a chain in this process refuses by exceptions of its own
                return EndpointFailed(method, str(failure)[:_MOST_WORDS] or type(failure).__name__)

    def _refused(self, method: str, response: object) -> ForcemoveError:
        error = response.get("error") if isinstance(response, Mapping) else None
        code, words = (error.get("code"), error.get("message")) if isinstance(error, Mapping) else (None, error)
        if means(Meaning.BUSY, code=code):
            from forcemove.chain.http import busy

            return busy(self.endpoint)
        return EndpointFailed(method, self._shown(str(words or "it gave no reason")))


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


def _unreachable(endpoint: str, cause: BaseException) -> Unreachable:
    """The error of an endpoint that gives no answer. Names no URL but the endpoint's."""
    if isinstance(cause, SSLError):
        return TlsFailed(endpoint, connection_words(cause))
    if isinstance(cause, TimeoutError):
        return Unreachable(endpoint, "it did not answer in time")
    if isinstance(cause, RemoteDisconnected | EOFError):
        return Unreachable(endpoint, "it ended the connection before it answered")
    return Unreachable(endpoint, connection_words(cause) if isinstance(cause, OSError) else type(cause).__name__)


def _cause(failure: BaseException) -> BaseException:
    """The innermost reason."""
    innermost, seen = failure, {id(failure)}
    while (deeper := _deeper(innermost)) is not None and id(deeper) not in seen:
        innermost = deeper
        seen.add(id(deeper))
    return innermost


def _deeper(failure: BaseException) -> BaseException | None:
    nested = (getattr(failure, "reason", None), *failure.args, failure.__cause__, failure.__context__)
    return next((each for each in nested if isinstance(each, BaseException)), None)
