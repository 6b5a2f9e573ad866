"""What channels that are over have left is deleted, and nothing of any other channel."""

from __future__ import annotations

from forcemove.store import records
from forcemove.store.journal import Journal
from tests.store.places import ACCOUNT, Place, batch, first, id_of, next_


def _fill(journal: Journal, number: int, *, finished: bool = True) -> records.ChannelUpdate:
    """A channel with two rows of history and a piece of evidence; as it is to stay."""
    journal.commit(batch(first(number, bytes(1_000), history=records.HistoryRow(1, b"begun"))))
    evidence, row = (records.Evidence("kind", b"body"),), records.HistoryRow(2, b"over")
    journal.commit(
        batch(next_(number, 1, bytes(1_000), evidence=evidence, history=row, finished=finished, summary=b"summary"))
    )
    return records.ChannelUpdate(id_of(number), 2, b"little", finished=True, cursor=b"block")


def test_what_is_over_is_pruned_and_the_rest_stays(journal: Journal) -> None:
    pruned, other = _fill(journal, 1), _fill(journal, 2)
    while journal.gather_history():
        pass
    assert journal.leftovers([id_of(1), id_of(2), id_of(3)]) == {id_of(1): (3, 13), id_of(2): (3, 13)}
    assert journal.prune([pruned]) == {id_of(1)}
    assert journal.leftovers([id_of(1), id_of(2)]) == {id_of(2): (3, 13)}
    stored = journal.load(id_of(1))
    assert stored is not None
    assert (stored.version, stored.snapshot, stored.metadata) == (3, b"little", b"about 1")
    assert (stored.ownership, stored.cursor) == (records.Ownership.FINISHED, b"block")
    assert [each.summary for each in journal.summaries()] == [b"summary"] * 2
    assert len(journal.history(other.channel_id).bodies) == 2
    assert len(journal.evidence()) == 1


def test_what_was_put_away_is_pruned_and_stays_put_away(journal: Journal) -> None:
    row = records.HistoryRow(1, b"begun")
    journal.commit(batch(first(1, bytes(1_000), put_away=True, history=row)))
    update = records.ChannelUpdate(id_of(1), 1, b"little", put_away=True)
    assert journal.prune([update]) == {id_of(1)}
    stored = journal.load(id_of(1))
    assert stored is not None
    assert (stored.snapshot, stored.ownership) == (b"little", records.Ownership.PUT_AWAY)
    assert journal.history(id_of(1)).bodies == ()
    assert journal.commit(batch(next_(1, 2, b"goes on"))) == {id_of(1)}


def test_what_was_appended_a_moment_ago_is_deleted_too(journal: Journal) -> None:
    update = _fill(journal, 1)
    assert journal.prune([update]) == {id_of(1)}
    assert journal.history(id_of(1)).bodies == ()


def test_a_channel_that_is_not_finished_or_is_of_another_version_is_left_alone(journal: Journal) -> None:
    open_, changed = _fill(journal, 1, finished=False), _fill(journal, 2)
    journal.commit(batch(next_(2, 2, b"changed", finished=True)))
    assert journal.prune([open_, changed]) == frozenset()
    assert journal.leftovers([id_of(1), id_of(2)]).keys() == {id_of(1), id_of(2)}


def test_a_channel_with_a_transaction_to_be_sent_is_left_alone(journal: Journal) -> None:
    updates = [_fill(journal, number) for number in (1, 2, 3)]
    journal.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"credit", id_of(1))])
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(ACCOUNT, [records.Put(records.InFlightTransaction(0, b"credit", id_of(2)))])
    assert journal.prune(updates) == {id_of(3)}


def test_who_drives_a_pruned_channel_commits_nothing_of_what_it_had(journal: Journal) -> None:
    """It loads the channel again before it saves anything."""
    journal.prune([_fill(journal, 1)])
    assert journal.commit(batch(next_(1, 2, b"with all its states", finished=True))) == {id_of(1)}


def test_the_file_is_smaller_afterwards(shared: Place) -> None:
    if shared.server is not None:
        return
    from pathlib import Path

    with shared.open() as journal:
        updates = [_fill(journal, number) for number in range(1, 300)]
        while journal.gather_history():
            pass
        journal.compact()
        before = Path(shared.where).stat().st_size
        journal.prune(updates)
        journal.compact()
        assert Path(shared.where).stat().st_size < before / 2
        assert journal.commit(batch(next_(1, 3, b"goes on", finished=True))) == frozenset()
