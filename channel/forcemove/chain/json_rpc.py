"""Carries requests to a node as JSON-RPC 2.0, over a connection of any kind. Each failure of a node, and of what a
connection is made of, becomes a typed error here: HTTP's statuses, the errors of JSON-RPC, and why there is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

from forcemove.backoff import asked_pause
from forcemove.chain.endpoint_name import EndpointName
from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint
from forcemove.chain.limits import AnswerTooLarge, parse_answer, parse_json
from forcemove.chain.quirks import Meaning, means
from forcemove.chain.reverts import revert_data
from forcemove.chain.rpc import CALLS, Reverted, StatusRefused
from forcemove.errors import ForcemoveError, MalformedBytes, PassingError

_BATCH = "a batch"


class RpcConnection(Protocol):
    """Sends requests to one node. Connects when first asked, and again after the connection was lost."""

    def ask(self, body: bytes, number: int | None, /) -> Any:
        """Send a request and wait for the JSON of its answer. Raises a typed error, `AnswerTooLarge`, `MalformedBytes`,
        `StatusRefused`, or what libraries raise.

        - `body`: of the request, or of a batch.
        - `number`: the request's, which its answer has, too; None of a batch.
        """
        ...

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        ...


class JsonRpcTransport:
    """A `BatchTransport`."""

    is_here = False

    def __init__(self, connection: RpcConnection, endpoint: str) -> None:
        """`endpoint` names the node in errors."""
        self._connection, self._name, self._numbers = connection, EndpointName(endpoint), count()

    def exchange(self, method: str, params: Sequence[Any]) -> Any:
        """See `RpcTransport`."""
        number = next(self._numbers)
        return result_of(self._name, method, self._ask(method, _request(number, method, params), number))

    def exchange_some(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[object]:
        """See `BatchTransport`."""
        answers = self._ask(_BATCH, [_request(number, *each) for number, each in enumerate(requests)], None)
        match answers:
            case dict():
                raise refused(self._name, _BATCH, answers.get("error"))
            case [{"error": error}] if len(requests) > 1:  # so geth refuses a batch
                raise refused(self._name, _BATCH, error)
        listed = answers if isinstance(answers, list) else []
        found = {each["id"]: each for each in listed if isinstance(each, dict) and isinstance(each.get("id"), int)}
        if found.keys() != set(range(len(requests))):
            raise NotAnEthereumEndpoint(self._name.shown, "it is not the answer to a batch")
        return [self._result_or_error(method, found[number]) for number, (method, _) in enumerate(requests)]

    def close(self) -> None:
        """See `RpcTransport`."""
        self._connection.close()

    def _ask(self, what: str, request: object, number: int | None) -> Any:
        body = json.dumps(request).encode()
        try:
            return self._connection.ask(body, number)
        except Exception as failure:
            raise self._typed(what, failure) from None

    def _result_or_error(self, method: str, response: Any) -> object:
        try:
            return result_of(self._name, method, response)
        except (Reverted, ForcemoveError) as error:
            return error

    def _typed(self, what: str, failure: Exception) -> ForcemoveError:
        endpoint = self._name.shown
        match failure:
            case MalformedBytes():
                return NotAnEthereumEndpoint(endpoint, failure.reason)
            case ForcemoveError():
                return failure
            case AnswerTooLarge():
                return EndpointFailed(what, "its answer is larger than what is read")
            case StatusRefused():
                return refused_by_status(endpoint, what, failure)
            case OSError():
                from forcemove.chain.unreachable import unreachable  # a page has no sockets of the system

                return unreachable(endpoint, failure)
        return NotAnEthereumEndpoint(endpoint, f"its answer makes no sense ({type(failure).__name__})")


def _request(number: int, method: str, params: Sequence[Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def result_of(name: EndpointName, method: str, response: object) -> Any:
    """The result that an answer has. Raises `NotAnEthereumEndpoint`, `Reverted`, and what a refusal stands for."""
    if not isinstance(response, dict) or not _is_json_rpc(response):
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


# --------------------------------------------------------------------------------------------------- what failures mean

_OK = 200
_USUAL_WAIT, _LONGEST_WAIT = 1.0, 30.0
"""Seconds for which a server that is busy is not asked: where it does not say how long, and at most, since a challenge
may last for no more than a minute."""


def answer_in(status: int, body: bytes, retry_after: str) -> Any:
    """The JSON that a server answers; with another status than 200, the JSON-RPC error that is in the body. Raises
    `StatusRefused`, and as `parse_json`.

    - `status`, `retry_after`: of HTTP, and the header, empty where there is none.
    - `body`: of the answer.
    """
    if status == _OK:
        return parse_json(body)
    with suppress(MalformedBytes):
        if not means(Meaning.BUSY, status=status) and "error" in (answer := parse_answer(body)):
            return answer
    raise StatusRefused(status, retry_after)


def refused_by_status(endpoint: str, method: str, refusal: StatusRefused) -> PassingError:
    """The error of an HTTP status that comes without a JSON-RPC error."""
    if means(Meaning.BUSY, status=refusal.status):
        return _busy(endpoint, refusal.retry_after)
    if means(Meaning.TOO_MUCH, status=refusal.status):
        return EndpointFailed(method, f"HTTP status {refusal.status}")
    return NotAnEthereumEndpoint(endpoint, f"it answered with HTTP status {refusal.status}")


def refused(name: EndpointName, method: str, error: object) -> ForcemoveError:
    """The error that a JSON-RPC error stands for. `error`: the object, or whatever a node has put in its place."""
    code, words = (error.get("code"), error.get("message")) if isinstance(error, Mapping) else (None, error)
    if means(Meaning.BUSY, code=code):
        return _busy(name.shown)
    return EndpointFailed(method, name.hidden_in(str(words or "it gave no reason")))


def _busy(endpoint: str, retry_after: str = "") -> NodeBusy:
    return NodeBusy(endpoint, asked_pause(retry_after, _USUAL_WAIT, _LONGEST_WAIT))
