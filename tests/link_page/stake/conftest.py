"""A place to play for a stake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.nodes import Node
from tests.link_page.stake.gamblers import Room
from tests.relay.process import running_relay


@pytest.fixture
def room(tmp_path: Path, files: Path) -> Iterator[Room]:
    (tmp_path / "relay").mkdir()
    node = Node(tmp_path)
    with running_relay(tmp_path / "relay", "--pages", str(files)) as relay:
        found = Room(node, tmp_path, relay)
        yield found
        found.leave()
    node.stop()
