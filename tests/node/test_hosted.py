"""What providers of endpoints refuse, by imitation, before a real anvil: a channel is paid in, an old state that is
challenged is answered, and all is paid out. Hole 51. Rates and ranges of blocks are in tests/cli/test_play_rationed.py,
where whole programs play."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.local import AnvilChain, connect
from forcemove_games.tic_tac_toe import GAME
from tests.chain.server import serving
from tests.liars.proxy import NodeError, Tell, lying
from tests.sampled import sampled
from tests.scenarios.story import KEYS, Playground

NEVER = {"eth_feeHistory", "eth_newFilter", "eth_subscribe", "eth_getProof", "eth_simulateV1", "debug_traceCall"}
"""Methods that nothing here may need."""
ANSWERS = 7
"""After which a WebSocket is closed."""
_JSON = {"Content-Type": "application/json"}
_REFUSED = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "batches are not supported"}}'
_NO_METHOD = {"code": -32601, "message": "the method does not exist/is not available"}
_NO_TAG = {"code": -32602, "message": "invalid block tag"}


def without(*refused: str) -> Tell:
    """An endpoint that does not have these methods, or these block tags."""

    def tell(ask: Any, method: str, *params: Any) -> Any:
        if method in refused:
            raise NodeError(_NO_METHOD)
        if any(each in refused for each in params if isinstance(each, str)):
            raise NodeError(_NO_TAG)
        return ask(method, *params)

    return tell


LACKING = {
    "no pending block": ("pending",),
    "no finalized block": ("finalized", "safe"),
    "no history of fees": ("eth_feeHistory",),
    "no word on fees": ("eth_feeHistory", "eth_maxPriorityFeePerGas"),
    "no estimates": ("eth_estimateGas",),
    "only what must be": ("pending", "finalized", "safe", "eth_estimateGas", "eth_maxPriorityFeePerGas", *NEVER),
}


def play_and_dispute(anvil: AnvilChain, url: str) -> None:
    """Two nodes that have this endpoint alone."""
    with connect(url) as chain:
        story = Playground(chain, Playground.on(anvil).book).story(GAME)
        story.play_until(9)
        honest = Adjudicator(anvil, story.adjudicator.address)
        proof = story.proof(story.opening()[:2])
        story.charge(1, honest.send(honest.challenge(story.agreement.fixed_part, proof), KEYS[1]))
        story.play()
        assert story.record == (9, False)
        assert story.alice.mined[-1] == "SubmitCheckpoint"
        story.ends_as_agreed()


@pytest.mark.parametrize("lacks", LACKING)
def test_hole_51_a_channel_lives_where_the_endpoint_lacks_what_not_all_have(anvil: AnvilChain, lacks: str) -> None:
    with lying(anvil.endpoint, without(*LACKING[lacks])) as url:
        play_and_dispute(anvil, url)


REFUSALS = {
    "an error": (200, _REFUSED),
    "an error with status 400": (400, _REFUSED),
    "a page with status 403": (403, b"<html>no</html>"),
    "status 413": (413, b""),
    "an empty list": (200, b"[]"),
    "a list of errors without ids": (200, b"[" + _REFUSED + b"]"),
}


@pytest.mark.parametrize("refusal", sampled(list(REFUSALS), 3))
def test_a_channel_lives_where_the_endpoint_takes_no_batch(anvil: AnvilChain, refusal: str) -> None:
    refused: list[bytes] = []

    def answer(body: bytes) -> tuple[int, bytes]:
        if isinstance(json.loads(body), list):
            refused.append(body)
            return REFUSALS[refusal]
        return 200, requests.post(anvil.endpoint, body, headers=_JSON, timeout=30).content

    with serving(answer) as url:
        play_and_dispute(anvil, url)
    assert refused


@contextmanager
def closing_socket(node: str) -> Iterator[tuple[str, list[int]]]:
    """A WebSocket to a node, closed without being asked after some answers, as providers do it after a minute; and the
    connections there were."""
    connections: list[int] = []

    def handle(connection: ServerConnection) -> None:
        connections.append(0)
        with suppress(ConnectionClosed), requests.Session() as session:
            for _ in range(ANSWERS):
                connection.send(session.post(node, connection.recv(), headers=_JSON, timeout=30).text)

    with serve(handle, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}", connections
        server.shutdown()


def test_hole_51_a_channel_lives_over_a_websocket_that_is_closed_again_and_again(anvil: AnvilChain) -> None:
    with closing_socket(anvil.endpoint) as (url, connections):
        play_and_dispute(anvil, url)
    assert len(connections) > 10
