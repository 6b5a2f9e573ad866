"""Carries requests to a node by a function that posts, or through a wallet: for a page, which has neither web3 nor
sockets of the system."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from forcemove.chain.batch_codec import BatchRefused, batch_bytes, batch_responses
from forcemove.chain.endpoint_name import EndpointName
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.limits import MAX_ANSWER, REQUEST_SECONDS, AnswerTooLarge, parse_answer, parse_json
from forcemove.chain.refusals import answer_in, refused, refused_by_status
from forcemove.chain.reverts import revert_data
from forcemove.chain.threads import complete
from forcemove.chain.transport import CALLS, Reverted, StatusRefused
from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.posting import Answer, post, reason_of

__all__ = ["AskProvider", "PostTransport", "ProviderTransport"]

AskProvider = Callable[[str, str], Awaitable[str]]
"""Asks a wallet's provider (EIP-1193) by a method and its parameters, as JSON; the result, or the error, as the object
of a JSON-RPC answer. Raises where there is no wallet."""


class PostTransport:
    """A `BatchTransport` to an endpoint that speaks HTTP. What asks is not the event loop: see `threads.complete`."""

    is_here = False

    def __init__(self, endpoint: str) -> None:
        """`endpoint`: http:// or https://."""
        self._endpoint, self._name = endpoint, EndpointName(endpoint)

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        request = {"jsonrpc": "2.0", "id": 0, "method": method, "params": list(params)}
        return _result(self._name, method, self._ask(method, json.dumps(request).encode(), parse_answer))

    def exchange_some(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[object]:
        """See `BatchTransport`."""
        what = "a batch"
        try:
            responses = batch_responses(self._ask(what, batch_bytes(requests), parse_json), len(requests))
        except BatchRefused as refusal:
            raise refused(self._name, what, refusal.response.get("error")) from None
        except MalformedBytes as error:
            raise NotAnEthereumEndpoint(self._name.shown, error.reason) from None
        return [self._or_error(method, response) for (method, _), response in zip(requests, responses, strict=True)]

    def close(self) -> None:
        """See `RpcTransport`: nothing is kept open."""

    def _ask(self, method: str, body: bytes, parse: Callable[[bytes], Any]) -> Any:
        """Post, and read the answer. Raises as `RpcTransport.exchange`."""
        endpoint = self._name.shown
        answer = self._post(body)
        try:
            if len(answer.body) > MAX_ANSWER:
                raise AnswerTooLarge
            return answer_in(*answer, parse)
        except AnswerTooLarge:
            raise EndpointFailed(method, "its answer is larger than what is read") from None
        except MalformedBytes as error:
            raise NotAnEthereumEndpoint(endpoint, error.reason) from None
        except StatusRefused as refusal:
            raise refused_by_status(endpoint, method, refusal) from None

    def _post(self, body: bytes) -> Answer:
        try:
            return complete(post(self._endpoint, body, REQUEST_SECONDS, most=MAX_ANSWER, media_type="application/json"))
        except Exception as failure:  # whatever a library makes of it
            raise Unreachable(self._name.shown, self._name.hidden_in(reason_of(failure))) from None

    def _or_error(self, method: str, response: Any) -> object:
        try:
            return _result(self._name, method, response)
        except (Reverted, ForcemoveError) as error:
            return error


class ProviderTransport:
    """A `RpcTransport` to the node that a wallet in the browser has."""

    is_here = False

    def __init__(self, ask: AskProvider, endpoint: str) -> None:
        """`ask`: asks the wallet. `endpoint` names it in errors."""
        self._ask, self._name = ask, EndpointName(endpoint)

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        try:
            answer = complete(asyncio.wait_for(self._said(method, json.dumps(list(params))), REQUEST_SECONDS))
            response = parse_answer(answer.encode())
        except MalformedBytes as error:
            raise NotAnEthereumEndpoint(self._name.shown, error.reason) from None
        except Exception as failure:  # a wallet's may be anything
            raise Unreachable(self._name.shown, reason_of(failure)) from None
        return _result(self._name, method, {"jsonrpc": "2.0"} | response)

    async def _said(self, method: str, params: str) -> str:
        return await self._ask(method, params)

    def close(self) -> None:
        """See `RpcTransport`: the wallet is the player's."""


def _result(name: EndpointName, method: str, response: dict[str, Any]) -> Any:
    if not _is_json_rpc(response):
        raise NotAnEthereumEndpoint(name.shown, "its answer is not JSON-RPC")
    if "result" in response:
        return response["result"]
    error = response["error"]
    data = revert_data(error) if method in CALLS else None
    raise refused(name, method, error) if data is None else Reverted(data)


def _is_json_rpc(response: dict[str, Any]) -> bool:
    """Whether a response has a result, or an error as the standard wants it."""
    if response.get("jsonrpc") != "2.0" or ("result" in response) is ("error" in response):
        return False
    error = response.get("error", {"code": 0, "message": ""})
    return isinstance(error, dict) and isinstance(error.get("message"), str) and isinstance(error.get("code"), int)
