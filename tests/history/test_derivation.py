"""What a history's entries are made of: nothing is entered twice, and nothing stays that is gone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import Channel, SignedState, VariablePart
from forcemove.history import derivation, entries
from forcemove.history.index import HistoryIndex
from forcemove.protocol.logs import Closed, Deposited
from forcemove.protocol.machine.effects import SubmitDeposit
from tests.protocol.table import CountingGame, Table, open_table, seated

ID, HASH, OTHER = (bytes([each]) * 32 for each in (1, 2, 3))
DEPOSITED, CLOSED = Deposited(ID, bytes(20), 5), Closed(ID)


def at(block: int, fork: int = 0, index: int = 0) -> entries.LogPosition:
    return entries.LogPosition(block, bytes([block, fork]) * 16, HASH, index)


# --------------------------------------------------------------------------------------------------------------- states


def test_our_state_and_theirs() -> None:
    alice = open_table(until=4).seats[0]
    channel = alice.channel
    ours, theirs = channel.accepted[-1], channel.accepted[-2]
    assert ours.signed.signatures.keys() == {0}
    before = _without_newest(channel, 2)
    assert derivation.state_entries(before, channel, 9, from_chain=False) == [
        entries.StateAccepted(9, theirs.signed, False),
        entries.StateSigned(9, ours.signed),
    ]
    assert derivation.state_entries(channel, channel, 9, from_chain=False) == []


def test_of_several_counterparties_the_one_that_has_signed_a_refused_state_is_its_author() -> None:
    table = Table(CountingGame(3), [lambda _: None] * 3)
    table.run()
    channel = table.seats[0].channel
    wrong = VariablePart(channel.agreement.outcome, b"wrong", 7)
    assert derivation.author_of(channel, table.signed(wrong, 1)) == 1
    assert derivation.author_of(channel, table.signed(wrong, 1, 2)) == 1
    forged = SignedState(wrong, {1: table.signed(wrong, 2).signatures[2]})
    for refused in (None, table.signed(wrong, 2), SignedState(wrong, {}), forged):
        assert derivation.author_of(channel, refused) is None
    ours = VariablePart(channel.agreement.outcome, b"ours", 6)
    assert derivation.author_of(channel, table.signed(ours, 0)) is None
    assert derivation.author_of(open_table(until=4).seats[0].channel, None) == 1


def _without_newest(channel: Channel, count: int) -> Channel:
    return replace(channel, accepted=channel.accepted[:-count], last_signed=None)


def test_a_final_state_and_the_signatures_on_it() -> None:
    table, alice, _ = seated(open_table(until=4))
    final = VariablePart(alice.newest.state.outcome, b"", 5, is_final=True)
    before = alice.channel
    alice.receive(table.signed(final, 1))
    after, signed = alice.channel, alice.channel.accepted[-1].signed
    theirs = SignedState(final, {1: signed.signatures[1]})
    assert derivation.state_entries(before, after, 9, from_chain=True) == [
        entries.StateAccepted(9, theirs, True),
        entries.SignatureAdded(9, 5, 0, signed.signatures[0]),
    ]


def test_a_signature_that_comes_later() -> None:
    table, alice, bob = seated(open_table(until=5))
    final = VariablePart(alice.newest.state.outcome, b"", 6, is_final=True)
    bob.receive(table.signed(final, 0))
    before = bob.channel
    assert set(before.accepted[-1].signed.signatures) == {0, 1}
    lacking = before.replace_newest(type(before.accepted[-1])(table.signed(final, 0), before.accepted[-1].hashes))
    (added,) = derivation.state_entries(lacking, before, 9, from_chain=False)
    assert isinstance(added, entries.SignatureAdded)
    assert (added.turn_num, added.participant) == (6, 1)


# ----------------------------------------------------------------------------------------------------------------- logs


def test_logs_that_are_new_are_entered_once() -> None:
    index = HistoryIndex()
    shown = [(DEPOSITED, at(4)), (DEPOSITED, at(4, index=1))]
    found = derivation.log_entries(index, shown, -1, 9)
    assert found == [entries.LogIncluded(9, *each) for each in shown]
    for each in found:
        index.take(each)
    assert derivation.log_entries(index, shown, -1, 10) == []


def test_logs_that_are_gone_are_removed_newest_first_and_before_those_that_are_new() -> None:
    mined = entries.TxMined(1, OTHER, "conclude", HASH, 6, at(6).block_hash, 1, 1)
    index = HistoryIndex([entries.LogIncluded(1, DEPOSITED, at(4)), entries.LogIncluded(1, DEPOSITED, at(5))])
    index.take(entries.LogIncluded(1, CLOSED, at(6)))
    index.take(mined)
    assert derivation.log_entries(index, [(DEPOSITED, at(4)), (CLOSED, at(6, fork=1))], -1, 9) == [
        entries.LogReorged(9, CLOSED, at(6)),
        entries.LogReorged(9, DEPOSITED, at(5)),
        entries.TxReorged(9, OTHER, "conclude", HASH, at(6).block_hash),
        entries.LogIncluded(9, CLOSED, at(6, fork=1)),
    ]


@pytest.mark.parametrize(("after_block", "gone"), [(-1, [5, 4]), (4, [5]), (5, [])])
def test_logs_before_what_is_shown_stay(after_block: int, gone: list[int]) -> None:
    index = HistoryIndex([entries.LogIncluded(1, DEPOSITED, at(4)), entries.LogIncluded(1, DEPOSITED, at(5))])
    found = derivation.log_entries(index, [], after_block, 9)
    assert [each.position.block_number for each in found if isinstance(each, entries.LogReorged)] == gone


# --------------------------------------------------------------------------------------------------------- transactions


def test_a_request_is_named_once_until_it_is_mined() -> None:
    channel = open_table(until=4).seats[0].channel
    asked = channel.request(SubmitDeposit(bytes(20), 0, 5))
    request = derivation.request_of(SubmitDeposit(bytes(20), 0, 5))
    index = HistoryIndex()
    assert derivation.request_entries(index, channel, asked, 9) == [entries.TxRequested(9, request, "deposit")]
    index.take(entries.TxRequested(9, request, "deposit"))
    assert derivation.request_entries(index, channel, asked, 10) == []
    assert derivation.request_entries(index, asked, channel, 10) == []
    index.take(entries.TxMined(11, request, "deposit", HASH, 4, HASH, 1, 1))
    assert derivation.request_entries(index, channel, asked, 12) == [entries.TxRequested(12, request, "deposit")]


def test_a_mined_transaction_is_entered_once_for_each_block() -> None:
    index, mined = HistoryIndex(), entries.TxMined(1, OTHER, "deposit", HASH, 4, HASH, 1, 1)
    assert derivation.mined_entries(index, mined) == [mined]
    index.take(mined)
    assert derivation.mined_entries(index, mined) == []
    moved = entries.TxMined(2, OTHER, "deposit", HASH, 5, OTHER, 1, 1)
    assert derivation.mined_entries(index, moved) == [entries.TxReorged(2, OTHER, "deposit", HASH, HASH), moved]
    index.take(entries.TxReorged(2, OTHER, "deposit", HASH, HASH))
    assert derivation.mined_entries(index, mined) == [mined]


def test_the_same_refusal_is_entered_once() -> None:
    index, refused = HistoryIndex(), entries.TxRefused(1, OTHER, "deposit", "GasTooDear", "5 > 4", 0)
    assert derivation.refused_entries(index, refused) == [refused]
    index.take(refused)
    assert derivation.refused_entries(index, entries.TxRefused(2, OTHER, "deposit", "GasTooDear", "5 > 4", 0)) == []
    assert derivation.refused_entries(index, entries.TxRefused(2, OTHER, "deposit", "GasTooDear", "6 > 4", 0)) != []
    index.take(entries.TxMined(3, OTHER, "deposit", HASH, 4, HASH, 1, 1))
    assert derivation.refused_entries(index, refused) == [refused]
