"""The outbox, and what is on its way, where several requests go out in one transaction."""

from __future__ import annotations

from forcemove.history.entries import TxSent
from forcemove.history.packing import unpack
from forcemove.protocol.machine.effects import SubmitCheckpoint
from forcemove.sender.batches import batches_of
from forcemove.sender.transactions import ChannelTx, PendingTx, TxRequest, Version
from forcemove.store.records import Account
from forcemove.workers.outbox import JournalledTxStore, Outbox
from tests.process import memory_journal
from tests.protocol.builders import proof, state

ACCOUNT = Account(1, bytes(20))
VERSION = Version(b"\x07" * 32, b"", 1, 1, False, 0)


def answer(number: int) -> TxRequest:
    submission = SubmitCheckpoint(proof(state(5), state(6)))
    return TxRequest(ChannelTx(bytes([number]) * 32, submission), bytes(20), bytes(4), 0, 1, deadline=100, gas=50_000)


def test_what_goes_out_in_a_batch_leaves_the_outbox_with_it() -> None:
    """Or it would be sent once more; and each channel's history says that it was sent."""
    with memory_journal() as journal:
        journal.leases.take([ACCOUNT], 60)
        outbox, store = Outbox(journal, ACCOUNT), JournalledTxStore(journal, ACCOUNT)
        requests = [answer(number) for number in (1, 2, 3)]
        for each in requests:
            outbox.add(each)
        store.outbox_numbers = {id_: number for id_, (number, _) in outbox.waiting().items()}
        (batch,) = batches_of(requests[:2])
        store.update([PendingTx(batch, 0, 200_000, 0, (VERSION,))], [])
        assert set(outbox.waiting()) == {requests[2].request_id}
        assert outbox.unsettled().keys() == {each.request_id for each in requests}
        for number, count in ((1, 1), (2, 1), (3, 0)):
            bodies = journal.history(bytes([number]) * 32).bodies
            sent = [entry for each in bodies for entry in unpack(each)]
            assert [type(each) for each in sent] == [TxSent] * count
