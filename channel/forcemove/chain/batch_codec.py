"""Batches of JSON-RPC 2.0 (section 6) as bytes, and their answers. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forcemove.errors import MalformedBytes

__all__ = ["BatchRefused", "batch_bytes", "batch_responses"]


class BatchRefused(Exception):
    """A server refuses a whole batch. `response`: what it says. Stays inside this package."""

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(repr(response.get("error")))
        self.response = response


def batch_bytes(requests: Sequence[tuple[str, Sequence[Any]]]) -> bytes:
    """A batch of requests, each its method and parameters."""
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        for number, (method, params) in enumerate(requests)
    ]
    return json.dumps(calls).encode()


def batch_responses(answers: Any, count: int) -> list[dict[str, Any]]:
    """The answers to `count` requests, in the order of the requests. Raises `BatchRefused`, and `MalformedBytes` where
    the server leaves out an answer."""
    if isinstance(answers, dict):
        raise BatchRefused(answers)
    if not isinstance(answers, list):
        raise MalformedBytes("answer", "it is not the answer to a batch")
    found = {each.get("id"): each for each in answers if isinstance(each, dict)}
    if found.keys() != set(range(count)):
        raise MalformedBytes("answer", "it is not the answer to a batch")
    return [found[number] for number in range(count)]
