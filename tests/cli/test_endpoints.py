"""The nodes of a command, as it opens them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove.cli.endpoints import endpoint_name, open_nodes
from tests.cli.nodes import Node


def test_a_node_that_is_away_at_the_start_is_told_once_and_waited_for(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.stop()
    told = list[str]()

    def notify(text: str) -> None:
        told.append(text)
        node.start()

    try:
        (chain,) = open_nodes([node.endpoint], notify=notify)
        with chain:
            assert chain.chain_id == 31_337
    finally:
        node.stop()
    (line,) = told
    assert "is out of reach. It is tried again." in line


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("https://user:word@node.example:8545/v3/secret?key=secret", "node.example:8545"),
        ("https://node.example?key=secret", "node.example"),
        ("https://node.example/p@secret", "node.example"),
        ("https://[::1/secret", "https"),
        ("/tmp/node.ipc", "/tmp/node.ipc"),  # noqa: S108  # a name, not a file
    ],
)
def test_a_node_is_named_without_its_secrets(endpoint: str, name: str) -> None:
    assert endpoint_name(endpoint) == name
