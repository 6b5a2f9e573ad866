"""What closes leaves nothing in storage but the mark that it is closed: no record, and no late money."""

from __future__ import annotations

import pytest

from forcemove import ETHER
from forcemove.protocol.words import late_key, word_key
from tests.invariants.test_full_channels import TOTAL, Funded
from tests.parity import core_abi as abi
from tests.parity.core_verdict import ALLOWED
from tests.protocol.builders import outcome

CLOSED = 1 << 255


def words(funded: Funded) -> tuple[int, int]:
    """The word of the home asset and the late one, as they are stored."""
    world = funded.world
    keys = abi.numbers([int.from_bytes(key(funded.id, ETHER)) for key in (word_key, late_key)])
    stored = world.chain.call("Adjudicator", "wordsOf", world.adjudicator, keys)[64:]
    return int.from_bytes(stored[:32]), int.from_bytes(stored[32:])


@pytest.mark.parametrize(("total", "held"), [(TOTAL, TOTAL), (TOTAL, TOTAL + 7), (0, TOTAL), (0, TOTAL + 7)])
def test_a_closed_channel_leaves_no_record_and_no_late_money(total: int, held: int) -> None:
    funded = Funded(held, total)
    assert funded.record() == ALLOWED
    assert words(funded)[1] == held - total
    assert funded.conclude(outcome(15, 5)) == ALLOWED
    assert words(funded) == (CLOSED, 0)
