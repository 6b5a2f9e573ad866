"""What endpoints agree on and what they deny come in at once: nothing is signed in between, and nothing kept as read.
Row 54 of the list of attacks."""

from __future__ import annotations

from pathlib import Path

from forcemove import ETHER, VariablePart
from forcemove.follower.endpoint_quorum import QuorumUpdate
from forcemove.node.client import Client
from forcemove.protocol.machine.inputs import ChainUpdate, HoldingsSeen, ViewsDiffer
from tests.node.test_endpoints import Table as Endpoints
from tests.protocol.builders import ALICE
from tests.protocol.table import DEPOSIT, Table, open_table

LOST, FOUND = (ChainUpdate((HoldingsSeen(ETHER, held),)) for held in (0, 2 * DEPOSIT))
AGREED, DENIED = ViewsDiffer(), ViewsDiffer(is_denied=True)


def asked_to_end(table: Table, differ: ViewsDiffer, read: ChainUpdate) -> Client:
    """Alice's client, which holds back her signature of the end that Bob proposes."""
    alice = table.seats[0]
    alice.feed(differ)
    for each in read.changes:
        alice.feed(each)
    alice.receive(table.signed(VariablePart(alice.newest.state.outcome, b"", 5, True), 1))
    return Client(alice.channel, ALICE, table.app)


def signers(client: Client) -> set[int]:
    newest = client.channel.newest
    assert newest is not None
    return set(newest.signed.signatures)


def test_threat_54_what_was_denied_is_not_built_on_before_the_news_are_in() -> None:
    """The deposits are gone where all agree again."""
    table = open_table(until=4)
    client = asked_to_end(table, DENIED, FOUND)
    client.on_chain_update(LOST, table.now, is_new_block=True, differences=AGREED)
    assert signers(client) == {1}
    client.on_chain_update(FOUND, table.now, is_new_block=True)
    assert signers(client) == {0, 1}


def test_threat_54_nothing_is_built_on_news_that_come_with_a_denial() -> None:
    table = open_table(until=4)
    client = asked_to_end(table, AGREED, LOST)
    client.on_chain_update(FOUND, table.now, is_new_block=True, differences=DENIED)
    assert signers(client) == {1}
    client.on_chain_update(None, table.now, is_new_block=True, differences=AGREED)
    assert signers(client) == {0, 1}


def test_threat_54_what_was_read_while_an_endpoint_denied_it_is_not_kept_as_read(tmp_path: Path) -> None:
    """After a restart all is read again that came meanwhile."""
    house = Endpoints(tmp_path)
    managed = house.managed[0]
    house.nodes[0].poll()
    is_kept = list[bool]()
    for told in (
        QuorumUpdate(differences={managed.id: DENIED}),
        QuorumUpdate(),
        QuorumUpdate(differences={managed.id: AGREED}),
    ):
        managed.on_chain_update(told)
        is_kept.append(managed.is_up_to_date)
    assert is_kept == [False, False, True]
    house.close()


def test_threat_22_nothing_is_kept_as_read_before_the_first_update(tmp_path: Path) -> None:
    """The chain may be read to its end while the channel's own older logs are not."""
    house = Endpoints(tmp_path)
    managed = house.managed[0]
    is_kept = list[bool]()
    for happens in (lambda: managed.on_chain_update(QuorumUpdate(genuine={managed.id})), house.nodes[0].poll):
        happens()
        is_kept.append(managed.is_up_to_date)
    assert is_kept == [False, True]
    house.close()
