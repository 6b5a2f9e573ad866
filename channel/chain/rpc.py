"""JSON-RPC requests to one node through web3's providers; every failure comes out as a typed error.

web3 is the transport alone: its own formatters, which raise a dozen unrelated exceptions on odd answers and follow
"offchain lookups" that a hostile contract names, are passed by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from forcemove.channel.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.channel.chain.reverts import revert_data
from forcemove.channel.errors import ForcemoveError, MalformedBytes

if TYPE_CHECKING:
    from web3 import Web3

__all__ = ["Reverted", "Rpc", "as_bytes", "as_number", "making_sense", "shown_endpoint"]

ValueT = TypeVar("ValueT")


class Reverted(Exception):
    """A call reverted with `data`. Stays inside this package: code that has an error table makes an error of it."""

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


class Rpc:
    """Requests to one node."""

    def __init__(self, web3: Web3, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        self._web3 = web3
        self.endpoint = shown_endpoint(endpoint)

    def ask(self, method: str, *params: Any) -> Any:
        """One request; the result as the node gave it.

        Raises `Unreachable`, `NotAnEthereumEndpoint`, `EndpointFailed`; for calls also `Reverted`.
        """
        from web3.types import RPCEndpoint

        try:
            return self._web3.manager.request_blocking(RPCEndpoint(method), list(params))
        except Exception as failure:
            # The providers raise what their libraries raise: requests, sockets, json, eth-tester, web3 itself.
            if method in ("eth_call", "eth_estimateGas"):
                data = revert_data(failure)
                if data is not None:
                    raise Reverted(data) from None
            raise self._typed(method, failure) from None

    def number(self, method: str, *params: Any) -> int:
        """The same, of a request that answers with a quantity."""
        return self._read(method, as_number, self.ask(method, *params))

    def data(self, method: str, *params: Any) -> bytes:
        """The same, of a request that answers with bytes."""
        return self._read(method, as_bytes, self.ask(method, *params))

    def _read(self, method: str, reader: Callable[[object], ValueT], answer: object) -> ValueT:
        try:
            return reader(answer)
        except (TypeError, ValueError):
            raise NotAnEthereumEndpoint(self.endpoint, f"{method} was answered with {answer!r:.80}") from None

    def _typed(self, method: str, failure: Exception) -> ForcemoveError:
        from requests.exceptions import HTTPError, JSONDecodeError, RequestException
        from web3.exceptions import BadResponseFormat, Web3RPCError

        match failure:
            case Web3RPCError():
                return EndpointFailed(method, _words(failure.rpc_response))
            case HTTPError():
                status = "an error" if failure.response is None else f"HTTP status {failure.response.status_code}"
                return NotAnEthereumEndpoint(self.endpoint, f"it answered with {status}")
            case JSONDecodeError() | BadResponseFormat():
                return NotAnEthereumEndpoint(self.endpoint, "its answer is not JSON-RPC")
            case RequestException() | OSError() | TimeoutError():
                return Unreachable(self.endpoint, _cause(failure))
            case ValueError() if "JSON" in type(failure).__name__ or "json" in str(failure).lower():
                return NotAnEthereumEndpoint(self.endpoint, "its answer is not JSON-RPC")
            case _:
                return EndpointFailed(method, str(failure) or type(failure).__name__)


@contextmanager
def making_sense(endpoint: str) -> Iterator[None]:
    """What is read from a node's answers within this makes sense. Raises `NotAnEthereumEndpoint` where it does not."""
    try:
        yield
    except (KeyError, TypeError, ValueError, MalformedBytes) as error:
        raise NotAnEthereumEndpoint(endpoint, f"its answer makes no sense: {error!r:.80}") from None


def as_number(answer: object) -> int:
    """A quantity: hex on the wire, an integer from eth-tester; never below 0."""
    number = int(answer, 16) if isinstance(answer, str) else _integer(answer)
    if number < 0:
        raise ValueError("a quantity below 0")
    return number


def _integer(answer: object) -> int:
    if type(answer) is not int:
        raise TypeError("not a quantity")
    return answer


def as_bytes(answer: object) -> bytes:
    """Bytes: hex on the wire, sometimes bytes from eth-tester."""
    if isinstance(answer, bytes):
        return bytes(answer)
    if not isinstance(answer, str) or not answer.startswith("0x"):
        raise TypeError("not bytes")
    return bytes.fromhex(answer[2:])


def _words(response: object) -> str:
    error = response.get("error") if isinstance(response, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return str(message or "it gave no reason")


def _cause(failure: BaseException) -> str:
    """The innermost reason, which names no URL."""
    innermost, seen = failure, {id(failure)}
    while (deeper := _deeper(innermost)) is not None and id(deeper) not in seen:
        innermost = deeper
        seen.add(id(deeper))
    return getattr(innermost, "strerror", None) or type(innermost).__name__


def _deeper(failure: BaseException) -> BaseException | None:
    nested = (getattr(failure, "reason", None), *failure.args, failure.__cause__, failure.__context__)
    return next((each for each in nested if isinstance(each, BaseException)), None)
