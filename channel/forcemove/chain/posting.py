"""Carries requests to a node by a function that posts, or through a wallet: for a page, which has no sockets of the
system."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from forcemove.chain.endpoint_name import EndpointName
from forcemove.chain.errors import NotAnEthereumEndpoint, Unreachable
from forcemove.chain.json_rpc import answer_in, result_of
from forcemove.chain.limits import MAX_ANSWER, REQUEST_SECONDS, AnswerTooLarge, parse_answer
from forcemove.chain.threads import complete
from forcemove.errors import MalformedBytes
from forcemove.posting import post, reason_of

AskProvider = Callable[[str, str], Awaitable[str]]
"""Asks a wallet's provider (EIP-1193) by a method and its parameters, as JSON; the result, or the error, as the object
of a JSON-RPC answer. Raises where there is no wallet."""


class PostConnection:
    """A `RpcConnection` to an endpoint that speaks HTTP. What asks is not the event loop: see `threads.complete`."""

    def __init__(self, endpoint: str) -> None:
        """`endpoint`: http:// or https://."""
        self._endpoint, self._name = endpoint, EndpointName(endpoint)

    def ask(self, body: bytes, _: int | None, /) -> Any:
        """See `RpcConnection`."""
        try:
            said = post(self._endpoint, body, REQUEST_SECONDS, most=MAX_ANSWER, media_type="application/json")
            found = complete(said)
        except Exception as failure:  # whatever a library makes of it
            raise Unreachable(self._name.shown, self._name.hidden_in(reason_of(failure))) from None
        if len(found.body) > MAX_ANSWER:
            raise AnswerTooLarge
        return answer_in(*found)

    def close(self) -> None:
        """See `RpcConnection`: nothing is kept open."""


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
        return result_of(self._name, method, {"jsonrpc": "2.0"} | response)

    async def _said(self, method: str, params: str) -> str:
        return await self._ask(method, params)

    def close(self) -> None:
        """See `RpcTransport`: the wallet is the player's."""
