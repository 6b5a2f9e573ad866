"""The ports in memory."""

from __future__ import annotations

import pytest

from forcemove.errors import MalformedBytes
from forcemove.node.memory import MemoryMessenger, MemoryStore
from forcemove.protocol.machine.channel import Channel
from tests.protocol.table import CountingGame, agreement_for


@pytest.mark.parametrize("count", [2, 3])
def test_what_one_says_all_others_hear_once_and_in_order(count: int) -> None:
    first, *others = MemoryMessenger.table(count)
    first.send(b"a")
    first.send(b"b")
    for other in others:
        assert other.receive() == (b"a", b"b")
        assert other.receive() == ()
    assert first.receive() == ()


def test_a_store_remembers_the_last_of_each_channel() -> None:
    store = MemoryStore()
    one, two = (Channel(agreement_for(CountingGame(), nonce=nonce), 0) for nonce in (1, 2))
    later = Channel(one.agreement, 0, leaving=True)
    assert store.load(one.agreement.channel_id) is None
    for channel in (one, two, later):
        store.save(channel)
    assert store.load(one.agreement.channel_id) == later
    assert store.load(two.agreement.channel_id) == two


def test_a_store_keeps_every_piece_of_evidence() -> None:
    store = MemoryStore()
    errors = [MalformedBytes("message", "first"), MalformedBytes("message", "second")]
    for error in errors:
        store.keep_evidence(b"\x01" * 32, error)
    assert store.evidence == [(b"\x01" * 32, error) for error in errors]
