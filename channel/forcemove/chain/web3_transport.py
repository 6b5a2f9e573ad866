"""Carries requests to a node through web3's providers.

web3 is the transport alone: its own formatters are not used, since they raise a dozen unrelated exceptions on odd
answers and follow "offchain lookups" that a hostile contract names. What a provider raises is what its libraries raise:
requests, sockets, json, eth-tester, web3 itself. Each of it becomes a typed error here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http.client import RemoteDisconnected
from ssl import SSLError
from typing import TYPE_CHECKING, Any, cast

from forcemove.chain.batch_codec import BatchRefused
from forcemove.chain.endpoint_name import MOST_WORDS, EndpointName
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, TlsFailed, Unreachable
from forcemove.chain.limits import AnswerTooLarge, keeping_recursion_limit
from forcemove.chain.refusals import refused, refused_by_status
from forcemove.chain.reverts import revert_data
from forcemove.chain.transport import CALLS, Reverted, StatusRefused
from forcemove.connecting import connection_words
from forcemove.errors import ForcemoveError, MalformedBytes

if TYPE_CHECKING:
    from web3.providers.base import BaseProvider
    from web3.types import RPCEndpoint

    from forcemove.chain.http import HttpProvider
    from forcemove.chain.websocket import WebSocketProvider

__all__ = ["Web3BatchTransport", "Web3Transport"]


class Web3Transport:
    """A `RpcTransport` over a provider of web3."""

    def __init__(self, provider: BaseProvider, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        with keeping_recursion_limit():
            from web3 import Web3
            from web3.providers.base import JSONBaseProvider

        # Its middleware would ask for the chain's id before each call, and check what we check.
        self._manager = Web3(provider, middleware=[]).manager
        self._provider, self._name = provider, EndpointName(endpoint)
        self.is_here = not isinstance(provider, JSONBaseProvider)

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        try:
            return self._manager.request_blocking(cast("RPCEndpoint", method), list(params))
        except Exception as failure:
            raise self._failure(method, failure) from None

    def close(self) -> None:
        """See `RpcTransport`."""
        close = getattr(self._provider, "close", None)
        if close is not None:
            close()

    def _failure(self, method: str, failure: Exception) -> Reverted | ForcemoveError:
        data = revert_data(failure) if method in CALLS else None
        return self._typed(method, failure) if data is None else Reverted(data)

    def _typed(self, method: str, failure: Exception) -> ForcemoveError:
        with keeping_recursion_limit():
            from requests.exceptions import InvalidURL, RequestException
            from web3.exceptions import BadResponseFormat, Web3RPCError

        endpoint = self._name.shown
        match failure:
            case MalformedBytes():
                return NotAnEthereumEndpoint(endpoint, failure.reason)
            case ForcemoveError():
                return failure
            case AnswerTooLarge():
                return EndpointFailed(method, "its answer is larger than what is read")
            case Web3RPCError():
                return self._refused(method, failure.rpc_response)
            case StatusRefused():
                return refused_by_status(endpoint, method, failure)
            case BadResponseFormat():
                return NotAnEthereumEndpoint(endpoint, "its answer is not JSON-RPC")
            case InvalidURL():
                return Unreachable(endpoint, "that is not an address of a node")
            case RequestException() | OSError():
                return _unreachable(endpoint, _cause(failure))
            case _ if not self.is_here:
                return NotAnEthereumEndpoint(endpoint, f"its answer makes no sense ({type(failure).__name__})")
            case _:  # a chain in this process refuses by exceptions of its own
                return EndpointFailed(method, str(failure)[:MOST_WORDS] or type(failure).__name__)

    def _refused(self, method: str, response: object) -> ForcemoveError:
        return refused(self._name, method, response.get("error") if isinstance(response, Mapping) else None)


class Web3BatchTransport(Web3Transport):
    """A `BatchTransport` over a provider of web3."""

    def __init__(self, provider: HttpProvider | WebSocketProvider, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        super().__init__(provider, endpoint)
        self._batches = provider

    def exchange_some(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[object]:
        """See `BatchTransport`."""
        try:
            responses = self._batches.make_requests(requests)
        except BatchRefused as refusal:
            raise self._refused("a batch", refusal.response) from None
        except Exception as failure:
            raise self._typed("a batch", failure) from None
        return [self._answer(*each, response) for each, response in zip(requests, responses, strict=True)]

    def _answer(self, method: str, params: Sequence[Any], response: Any) -> object:
        try:
            return self._manager.formatted_response(response, list(params))
        except Exception as failure:
            return self._failure(method, failure)


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
    nested = (vars(failure).get("reason"), *failure.args, failure.__cause__, failure.__context__)
    return next((each for each in nested if isinstance(each, BaseException)), None)
