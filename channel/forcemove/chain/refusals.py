"""What a node's refusals mean: the statuses of HTTP, and the errors of JSON-RPC. Knows no library by which nodes are
asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from forcemove.backoff import asked_pause
from forcemove.chain.endpoint_name import EndpointName
from forcemove.chain.errors import EndpointFailed, NodeBusy, NotAnEthereumEndpoint
from forcemove.chain.limits import parse_answer, parse_json
from forcemove.chain.quirks import Meaning, means
from forcemove.chain.transport import StatusRefused
from forcemove.errors import ForcemoveError, MalformedBytes, PassingError

__all__ = ["answer_in", "refused", "refused_by_status"]

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
