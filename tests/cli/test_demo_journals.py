"""What a demonstration finds in its players' journals."""

from __future__ import annotations

import pytest

from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.cli.terminal import Terminal
from forcemove.demo.environment import DemoEnvironment
from forcemove.demo.output import DemoOutput
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.agreement import agree
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.encoding import Domain
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER, address_destination
from forcemove.store.journal import Journal
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import Batch, ChannelUpdate
from forcemove_games.tic_tac_toe import GAME
from tests.protocol.builders import fixed_part

CHAIN = EmbeddedChain()
ADJUDICATOR = b"\xad" * 20
HERE, ELSEWHERE = Domain(CHAIN.chain_id, ADJUDICATOR), Domain(CHAIN.chain_id + 1, ADJUDICATOR)
ALICE, BOB, CAROL = local_keys()[:3]


@pytest.fixture
def environment() -> DemoEnvironment:
    """Of the players Alice and Bob."""
    journals = [open_journal(MEMORY, owner=bytes([seat]) * 16) for seat in range(2)]
    output = DemoOutput(Terminal().say, Terminal().status)
    return DemoEnvironment(CHAIN, (ALICE, BOB), output, 1, 60, journals=journals)


def begin(
    journal: Journal, seat: int, nonce: int, *players: Key, domain: Domain = HERE, is_over: bool = False
) -> bytes:
    """A channel between these players in the journal of one of them; its id."""
    destinations = tuple(address_destination(each.address) for each in players)
    agreement = agree(domain, fixed_part(players, nonce), GAME, 1, ((ETHER, (5,) * len(players)),), destinations)
    about = ChannelMetadata(GAME.artifact.name, 7, bytes(20), 1, b"\x07" * 32)
    snapshot = CHANNELS.encode(Channel(agreement, seat))
    update = ChannelUpdate(agreement.channel_id, 0, snapshot, METADATA.encode(about), finished=is_over)
    journal.commit(Batch((update,)))
    return agreement.channel_id


def test_a_channel_that_one_or_both_players_have_is_brought_home_once(environment: DemoEnvironment) -> None:
    alices, bobs = environment.journals
    both = [begin(journal, seat, 1, ALICE, BOB) for seat, journal in enumerate((alices, bobs))]
    bobs_alone = begin(bobs, 1, 2, ALICE, BOB)
    assert [each.id for each in environment.unfinished([GAME])] == [both[0], bobs_alone]


def test_what_a_person_plays_with_the_same_journal_is_left_alone(environment: DemoEnvironment) -> None:
    alices, _ = environment.journals
    begin(alices, 0, 1, ALICE, CAROL)
    begin(alices, 1, 2, CAROL, ALICE)
    begin(alices, 0, 3, ALICE, BOB, domain=ELSEWHERE)
    begin(alices, 0, 4, ALICE, BOB, is_over=True)
    assert environment.unfinished([GAME]) == []
