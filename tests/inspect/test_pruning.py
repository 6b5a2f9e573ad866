"""Channels lose their states only where nothing is left to do, to get or to know, and are not signed in again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from forcemove import ETHER, Channel, Phase
from forcemove.inspect.pruning import prunable, pruned
from forcemove.node.events import Sent
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.results import result_of
from forcemove.store.records import Ownership
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.expected import known
from tests.node.test_friendly import Table, play_to
from tests.node.test_node import House
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain

NOW = 10**12
"""Later than everything that is saved."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Two channels that were played to their ends."""
    made = House(Playground.on(MemoryChain()), tmp_path, 2)
    made.play()
    yield made
    made.close()


@pytest.fixture
def over(house: House) -> Channel:
    return next(iter(house.processes[0].node.channels.values())).channel


def test_what_is_over_and_paid_keeps_its_end(over: Channel) -> None:
    stays = pruned(over)
    assert stays is not None
    assert (stays.accepted, stays.superseded, stays.secrets) == (over.accepted[-1:], (), b"")
    assert (stays.last_signed, stays.final_outcome) == (over.last_signed, over.final_outcome)
    assert result_of(stays, 0) == result_of(over, 0)
    assert stays.phase(NOW) is Phase.CLOSED
    assert len(CHANNELS.encode(stays)) < len(CHANNELS.encode(over))


def test_what_is_open_owed_or_not_known_is_left_alone(over: Channel) -> None:
    assert pruned(replace(over, record=replace(over.record, closed=False))) is None
    assert pruned(replace(over, credits=((ETHER, 1),))) is None
    assert over.record.recorded is None
    assert pruned(replace(over, record=replace(over.record, concluded=UNSET), accepted=())) is None


def test_a_state_that_tells_what_was_paid_is_not_dropped(over: Channel) -> None:
    """The end that was concluded is not always the newest state that is held."""
    newest = replace(over.accepted[-1], hashes=over.accepted[-1].hashes._replace(outcome=bytes(32)))
    assert pruned(replace(over, accepted=(*over.accepted, newest))) is None


def test_a_journals_channels_are_pruned_once(house: House) -> None:
    alice = house.processes[0]
    alice.node.release()
    found = prunable(alice.journal, NOW)
    assert {each.channel_id for each in found} == {each.agreement.channel_id for each in house.assemblies}
    assert prunable(alice.journal, 1) == []
    assert alice.journal.prune(found) == {each.channel_id for each in found}
    assert prunable(alice.journal, NOW) == []


def test_a_friendly_game_that_was_put_away_is_pruned_and_stays_so(tmp_path: Path) -> None:
    table = Table(tmp_path, TIC_TAC_TOE)
    play_to(table, 8)
    put_away, journal = table.players[0], table.journals[0]
    assert prunable(journal, NOW) == []
    put_away.put_away()
    table.nodes[0].release()
    found = prunable(journal, NOW)
    assert journal.prune(found) == {put_away.id}
    assert prunable(journal, NOW) == []
    stored = known(journal.load(put_away.id))
    assert stored.ownership is Ownership.PUT_AWAY
    left = CHANNELS.decode(stored.snapshot)
    assert (left.newest, left.last_signed) == (put_away.channel.newest, put_away.channel.last_signed)
    assert len(left.accepted) == 1
    assert journal.history(put_away.id).bodies == ()
    table.close()


def test_only_a_friendly_game_is_pruned_unfinished(over: Channel) -> None:
    assert pruned(replace(over, record=replace(over.record, closed=False)), is_put_away=True) is None


def test_nothing_is_signed_in_a_channel_that_was_pruned(house: House) -> None:
    """It is driven again, by its owner and from its journal alone."""
    alice, bob = house.processes
    alice.node.release()
    alice.journal.prune(prunable(alice.journal, NOW))
    for process in (alice, bob):
        process.die()
    alice.told.clear()
    house.play()
    assert alice.phases == bob.phases == {Phase.CLOSED}
    assert [each for each in alice.events if isinstance(each, Sent)] == []
    assert alice.troubles == []
