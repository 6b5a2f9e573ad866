"""A demonstration on a node that is cut off: it says what is locked where, and the same command brings it home."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from channel.chain.adjudicator import Adjudicator
from channel.cli.demo.records import decode_ledger
from channel.protocol.types import ETHER
from tests.cli.nodes import Node, records, require_all_home, start_demo

HONEST = ("--game", "tic-tac-toe", "--scenario", "honest")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    yield node
    node.stop()


def held(node: Node, folder: Path) -> int:
    """What the channels hold that are kept."""
    (record,) = records(folder)
    chain = node.chain
    return sum(
        Adjudicator(chain, kept.agreement.domain.adjudicator).holdings_of(id_, ETHER).held
        for id_, kept in decode_ledger(record.read_bytes()).channels.items()
    )


@pytest.mark.parametrize(
    ("moment", "times"),
    [("signs the prefund state", 2), ("Alice deposits", 1), ("Bob deposits", 1), ("turn    7", 1), ("turn   1", 1)],
)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_what_is_locked_when_it_is_interrupted_comes_home_with_the_same_command(
    tmp_path: Path, node: Node, moment: str, times: int, by: signal.Signals
) -> None:
    first = start_demo(tmp_path, node, *HONEST)
    first.reach(moment, times)
    assert first.end(by=by) == 128 + by
    assert first.complained.startswith("Error: Interrupted.")
    locked = held(node, tmp_path)
    assert ("Locked: " in first.complained) == (locked > 0)

    again = start_demo(tmp_path, node, *HONEST)
    assert again.end() == 0, again.complained

    assert "Left over from an earlier run" in again.said
    assert again.said.count("found, as expected") == 2
    require_all_home(node, first, again)
