"""What the defence of a journal costs: as much as there is to defend, however much was played before."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from forcemove import local_keys
from forcemove.sessions.defence import Defence
from forcemove.store.records import Batch, ChannelUpdate
from forcemove_games.tic_tac_toe import GAME
from tests.process import memory_journal
from tests.simulation.chain import MemoryChain

OVER, OPEN = b"\x01" * 32, b"\x02" * 32


def test_channels_that_are_over_are_not_read_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a millisecond, in which nothing else goes on: after 5,000 games the node would stand still each half
    minute, for so long that it believes no endpoint afterwards."""
    with memory_journal() as journal:
        over = ChannelUpdate(OVER, 0, b"one", b"about it", finished=True)
        journal.commit(Batch((over, ChannelUpdate(OPEN, 0, b"one", b"about it"))))
        loaded: list[bytes] = []
        monkeypatch.setattr(journal, "load", loaded.append)
        defence = Defence(journal, Mock(), [MemoryChain()], [GAME], local_keys()[0], lambda _: None)
        defence.open_besides(())
        assert loaded == [OPEN]
