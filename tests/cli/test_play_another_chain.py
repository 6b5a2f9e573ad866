"""The address of the only endpoint leads to another chain for a while, in the middle of a game for money."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forcemove import connect, deploy, installed_games, local_keys
from forcemove.demo.network.scenarios import challenge_with
from tests.cli.nodes import Demo, Node, wait_until
from tests.cli.tables import BOOK, GUEST, HOST, World, link_of
from tests.liars.proxy import lying

CREATE = ("--create", "--stake", "0.01 ether")
OPTIONS = ("--rounds", "10", "--pace", "0.1", "--patience", "600")
_LATER = 6
"""Turns after which a state is so old that no single move is an answer to it."""
_LOOKS = 3
"""Requests of the host while its endpoint is of another chain."""


class Switch:
    """A proxy before a node, or before another one while `is_elsewhere`; `asked`: the methods that it was asked for
    then."""

    def __init__(self, other: Node) -> None:
        self.is_elsewhere, self.asked = False, list[str]()
        self._other = connect(other.endpoint)

    def __call__(self, ask: Callable[..., Any], method: str, *params: Any) -> Any:
        if not self.is_elsewhere:
            return ask(method, *params)
        self.asked.append(method)
        return self._other.rpc.ask(method, *params)


@contextmanager
def another_chain(folder: Path, chain_id: int) -> Iterator[Node]:
    """With the same contracts at the same addresses, two hours ahead and with more blocks."""
    folder.mkdir()
    node = Node(folder, "--chain-id", str(chain_id), "--timestamp", str(int(time.time()) + 7_200))
    try:
        deploy(node.chain, local_keys()[0], folder / BOOK, installed_games().games)
        node.chain.rpc.ask("anvil_mine", hex(50))
        yield node
    finally:
        node.stop()


@pytest.mark.parametrize(
    ("chain_id", "told"),
    [(31_338, "is of chain 31338, not of chain 31337"), (31_337, "did not begin on it")],
    ids=["another id", "another history"],
)
def test_threat_97_another_chain_for_a_while_is_told_and_waited_out(
    world: World, tmp_path: Path, chain_id: int, told: str
) -> None:
    with another_chain(tmp_path / "other", chain_id) as other:
        switch, real = Switch(other), world.endpoints
        nonce, height = other.chain.nonce_of(HOST.address), other.chain.block_number()
        with lying(world.node.endpoint, switch) as url:
            world.endpoints = [url]
            host = world.play(world.alice, *CREATE, *OPTIONS)
            world.endpoints = real
            guest = world.play(world.bob, "--join", link_of(host), "--yes", *OPTIONS)
            guest.reach("turn to reveal")
            old = world.saved(world.bob)
            wait_until(lambda: world.saved(world.alice).next_turn >= old.next_turn + _LATER)
            guest.end(by=signal.SIGKILL)

            switch.is_elsewhere = True
            wait_until(lambda: told in host.said + host.complained)
            turn = challenge_with(world.node.chain, GUEST, old)
            asked = len(switch.asked)
            wait_until(lambda: len(switch.asked) >= asked + _LOOKS)
            require_going_on(host)
            switch.is_elsewhere = False
            world.await_answer(old, turn)
            assert "eth_sendRawTransaction" not in switch.asked
            assert (other.chain.nonce_of(HOST.address), other.chain.block_number()) == (nonce, height)

            again = world.play(world.bob, *OPTIONS)
            assert [each.end() for each in (again, host)] == [0, 0], host.complained
            world.require_right_ends()


def require_going_on(player: Demo) -> None:
    assert player.process.poll() is None, player.said + player.complained
