"""Batches of JSON-RPC 2.0 (section 6) as bytes, and their answers as web3's providers give them. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from forcemove.chain.limits import keeping_recursion_limit
from forcemove.errors import MalformedBytes

with keeping_recursion_limit():
    from web3.exceptions import Web3RPCError

if TYPE_CHECKING:
    from web3.types import RPCResponse

__all__ = ["batch_bytes", "batch_responses"]


def batch_bytes(requests: Sequence[tuple[str, Sequence[Any]]]) -> bytes:
    """A batch of requests, each its method and parameters."""
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        for number, (method, params) in enumerate(requests)
    ]
    return json.dumps(calls).encode()


def batch_responses(answers: Any, count: int) -> list[RPCResponse]:
    """The answers to `count` requests, in the order of the requests. Raises `Web3RPCError` where the server refuses the
    batch, `MalformedBytes` where it leaves out an answer."""
    if isinstance(answers, dict):
        raise Web3RPCError(repr(answers.get("error")), rpc_response=cast("RPCResponse", answers))
    found = {each.get("id"): each for each in answers if isinstance(each, dict)}
    if found.keys() != set(range(count)):
        raise MalformedBytes("answer", "it is not the answer to a batch")
    return [cast("RPCResponse", found[number]) for number in range(count)]
