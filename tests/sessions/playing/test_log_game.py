"""A game over a log needs the journal for its lease alone, once it has begun."""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

import pytest

from forcemove.node.errors import LeaseLost
from forcemove.sessions.log_game import _keep
from forcemove.store.errors import JournalUnwritable
from forcemove.store.opening import MEMORY


def test_a_disk_that_is_full_for_a_while_ends_no_game() -> None:
    full, lost = JournalUnwritable(MEMORY, "the disk is full"), LeaseLost(bytes(32))
    hold = Mock(renew_every=0, renew=Mock(side_effect=[full, full, None, lost]))
    with pytest.raises(LeaseLost):
        asyncio.run(_keep(hold))
