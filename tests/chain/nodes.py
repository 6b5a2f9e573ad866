"""Nodes as others have them, in front of an anvil: what they refuse, refuses the request; the rest is passed on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests

from forcemove.chain.chain import Chain
from forcemove.chain.create2 import PRESIGNED
from forcemove.chain.local import AnvilChain, connect
from tests.chain.server import serving

Answer = Callable[[str, list[Any]], dict[str, Any] | None]
"""What a node answers itself, `{"result": …}` or `{"error": …}`; None is passed on."""


@contextmanager
def node_before(anvil: AnvilChain, answer: Answer) -> Iterator[Chain]:
    """The chain of the anvil, through such a node."""

    def serve(body: bytes) -> tuple[int, bytes]:
        asked = json.loads(body)
        own = answer(asked["method"], asked["params"])
        if own is None:
            return 200, requests.post(anvil.endpoint, data=body, headers=_HEADERS, timeout=30).content
        return 200, json.dumps({"jsonrpc": "2.0", "id": asked["id"]} | own).encode()

    with serving(serve) as endpoint, connect(endpoint) as chain:
        yield chain


_HEADERS = {"Content-Type": "application/json"}


def wants_replay_protection(method: str, params: list[Any]) -> dict[str, Any] | None:
    """In the words of geth, which does so unless an option says otherwise."""
    if method == "eth_sendRawTransaction" and params == ["0x" + PRESIGNED.hex()]:
        return _error("only replay-protected (EIP-155) transactions allowed over RPC")
    return None


def forgets(oldest: int, *, admits_it: bool) -> Answer:
    """Keeps no states from before a block; asked for one, it says so, or answers with nothing."""

    def answer(method: str, params: list[Any]) -> dict[str, Any] | None:
        if method != "eth_getCode" or not params[1].startswith("0x") or int(params[1], 16) >= oldest:
            return None
        return _error("missing trie node") if admits_it else {"result": "0x"}

    return answer


def _error(message: str) -> dict[str, Any]:
    return {"error": {"code": -32000, "message": message}}
