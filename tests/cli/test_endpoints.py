"""The nodes of a command, as it opens them."""

from __future__ import annotations

from pathlib import Path

from forcemove.cli.endpoints import open_nodes
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
