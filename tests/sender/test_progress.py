"""The property of a sender's look: however many transactions are on their way or are to be sent, and however slow the
endpoint is, each look leaves less undone than the one before, and an answer to a challenge is offered within two. What
leads to it is measured, too: a look has time for this many questions, and no more; a receipt that was given is not
asked for again; an endpoint that is fast is asked for more at a time. Time is virtual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from forcemove.protocol.hashing import keccak256
from forcemove.sender.transactions import PendingTx, TxRequest, Version
from tests.progress import cells
from tests.sender.test_crowd import BLOCK, ETHER, KEY, PAYEE, Crowd
from tests.simulation.state import Transaction

LOOKS, FAR = 30, 10_000_000
URGENT = 240
GAS, MAX_FEE, TIP = 50_000, 3 * 10**9, 10**9


class Progress(Crowd):
    """A sender of which much is asked. `receipts`: how often each transaction's was given."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.receipts, self.crowd = Counter[str](), set[bytes]()
        self.endpoint.answer = self._answer

    def _answer(self, method: str, *params: Any) -> Any:
        found = self.node.ask(method, *params)
        if method == "eth_getTransactionReceipt" and found is not None:
            self.receipts[params[0]] += 1
        return found

    @property
    def undone(self) -> int:
        """For each of the crowd's transactions how many of these it still has before it: to be signed, to be offered,
        to come out, to be forgotten."""
        sender = self.sender
        unsigned = sum(each in self.crowd for each in sender._requests)
        ours = [each for each in sender._pending.by_nonce.values() if each.request.request_id in self.crowd]
        due = set().union(*sender._offers._due.values())
        waiting = [each.nonce for each in ours if each.nonce not in sender._pending.announced]
        return 4 * unsigned + len(ours) + len(waiting) + len(due.intersection(waiting))

    def has_offered(self, number: int) -> bool:
        mined = (each for block in reversed(self.node.blocks) for each in block.transactions)
        return any(each.data == b"%d" % number for each in (*self.node.waiting, *mined))


def many_on_their_way(progress: Progress, count: int) -> None:
    """They were mined before this process looks for them: they are in the journal, and no receipt was asked for."""
    kept, now = list[PendingTx](), progress.node.next_time
    for nonce in range(count):
        name = b"%d" % nonce
        request = TxRequest(name, PAYEE.address, name, 0, ETHER // 100, None, gas=GAS)
        version = Version(keccak256(name), name, MAX_FEE, TIP, False, 0)
        kept.append(PendingTx(request, nonce, GAS, now, (version,)))
        progress.node.waiting.append(
            Transaction(version.hash, KEY.address, PAYEE.address, name, 0, nonce, GAS, MAX_FEE, TIP)
        )
    progress.kept.update(kept, ())
    progress.endpoint.wait(BLOCK)
    progress.restart()


def many_to_be_sent(progress: Progress, count: int) -> None:
    """They may wait."""
    for number in range(count):
        progress.want(number)


def many_answers(progress: Progress, count: int) -> None:
    """They have more time than the one that is watched."""
    for number in range(count):
        progress.want(number, FAR)


KINDS = (many_on_their_way, many_to_be_sent, many_answers)


@pytest.mark.parametrize(("kind", "seconds", "count"), cells(KINDS, lambda _, count: count > 1_000))
def test_each_look_leaves_less_undone_and_offers_an_answer_within_two(
    kind: Callable[[Progress, int], None], seconds: float, count: int
) -> None:
    """The first look through a slow endpoint may find out no more than how slow it is."""
    progress, asked = Progress(), dict[int, int]()
    kind(progress, count)
    progress.crowd, progress.endpoint.seconds = {b"%d" % number for number in range(count)}, seconds
    for look in range(LOOKS):
        if look == 0 or (look == 3 and kind is not many_answers):
            asked[count + look] = look
            progress.want(count + look, URGENT)
        before, began = progress.undone, progress.endpoint.now
        progress.look(pause=0)
        done = before - progress.undone
        assert done > 0 or not before or (look == 0 and seconds > 1)
        assert done >= 60 or look < 3 or seconds > 0.1 or before < 500
        assert progress.endpoint.now - began <= 15 + 20 * seconds
        assert progress.looks[-1].total() <= 130
        assert all(progress.has_offered(number) for number, at in asked.items() if look > at)
        assert max(progress.receipts.values(), default=0) <= 1
        progress.endpoint.wait(BLOCK)
    if count <= 1_000:
        progress.endpoint.seconds = 0
        progress.look_until_idle()
        assert progress.confirmed >= progress.crowd
        assert len(progress.mined_at()) == count + len(asked)
