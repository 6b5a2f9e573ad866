"""When a channel is over for us, who paid in what and gets what, and how it ended."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Channel, Outcome, Phase, address_destination, agree
from forcemove.protocol.machine.inputs import ChallengeWanted, CreditSeen, ViewsDiffer
from forcemove.protocol.machine.record import EMPTY_RECORD, Owed, Record
from forcemove.protocol.machine.results import Ending, Share, is_over, payable, result_of
from forcemove.protocol.words import Status
from tests.protocol.builders import DOMAIN, TOKEN, allocation, fixed_part, players
from tests.protocol.table import DEPOSIT, START, CountingGame, Table, agreed_table, counting_table, open_table, seated


def host_alone() -> Table:
    """Bob never pays in; Alice has challenged, and has got back what she had paid in."""
    table, alice, bob = seated(agreed_table())
    bob.is_away = True
    table.run()
    alice.feed(ChallengeWanted())
    table.run()
    table.wait_for_expiry()
    return table


def test_a_host_whose_guest_never_pays_in_comes_to_an_end() -> None:
    table = host_alone()
    alice = table.seats[0]
    alice.feed(ViewsDiffer())
    assert not is_over(alice.channel, table.now - 1)
    assert not is_over(alice.channel, table.now)
    table.run([alice])
    assert alice.phase is Phase.FINALIZED
    assert is_over(alice.channel, table.now)
    assert not alice.channel.is_over_and_paid
    assert result_of(alice.channel, table.now).ending is Ending.UNFUNDED
    assert result_of(alice.channel, table.now).shares == (
        Share(ETHER, 0, DEPOSIT, DEPOSIT, DEPOSIT),
        Share(ETHER, 1, 0, DEPOSIT, 0),
    )


def test_a_channel_that_everybody_has_signed_the_end_of_is_concluded() -> None:
    table = counting_table()
    table.run()
    for seat in table.seats:
        result = result_of(seat.channel, table.now)
        assert is_over(seat.channel, table.now)
        assert result.ending is Ending.CONCLUDED
        assert [share.deposited for share in result.shares] == [DEPOSIT] * 2
        assert [share.payable for share in result.shares] == [table.payouts[each.key.address] for each in table.seats]


@pytest.mark.parametrize("is_collected", [False, True])
def test_a_challenge_that_nobody_answered_decides(is_collected: bool) -> None:
    table, alice, bob = seated(open_table(until=3))
    alice.feed(alice.next_move(80))
    assert result_of(alice.channel, table.now).ending is Ending.OPEN
    bob.poll()
    bob.feed(bob.next_move(30))
    alice.poll()
    bob.is_away = alice.is_away = True
    table.challenge(*(each.state for each in alice.channel.accepted[-2:]))
    table.wait_for_expiry()
    alice.is_away = False
    alice.read_chain() if not is_collected else table.run([alice])
    result = result_of(alice.channel, table.now)
    assert result.ending is (Ending.UNANSWERED if is_collected else Ending.EXPIRED)
    assert [(each.deposited, each.allocated, each.payable) for each in result.shares] == [(50, 30, 30), (50, 70, 70)]


@pytest.mark.parametrize("left", [ViewsDiffer(is_denied=True), CreditSeen(ETHER, 1)])
def test_it_is_not_over_while_an_endpoint_denies_it_or_a_credit_is_left(left: ViewsDiffer | CreditSeen) -> None:
    table = counting_table()
    table.run()
    alice = table.seats[0]
    alice.feed(left)
    assert not is_over(alice.channel, table.now)


@pytest.mark.parametrize("count", [2, 3])
def test_it_is_over_exactly_where_a_payout_would_give_us_nothing(count: int) -> None:
    """All small amounts of ether and of a token, owed and held, against the adjudicator's model."""
    keys = players(count)
    destinations = tuple(address_destination(key.address) for key in keys)
    deposits = ((ETHER, (1,) * count), (TOKEN, (1,) * count))
    agreement = agree(DOMAIN, fixed_part(keys), CountingGame(count), 1, deposits, destinations)
    final = Record(Status(9, START, 7), None, None, payout_begun=True)
    for amounts in product((0, 1, 2), repeat=count):
        both = ((asset, key, each) for asset in (ETHER, TOKEN) for key, each in zip(keys, amounts, strict=True))
        owed = tuple(allocation(key, each, asset) for asset, key, each in both)
        for ether, token in product(range(3), repeat=2):
            held = {ETHER: ether, TOKEN: token}
            paid = payable(owed, held)
            assert paid == modelled(owed, held)
            for index in range(count):
                record = replace(final, owed=Owed(bytes(32), owed))
                channel = Channel(agreement, index, True, record=record, holdings=tuple(sorted(held.items())))
                assert is_over(channel, START) is (paid[index] + paid[count + index] == 0)
                assert not is_over(replace(channel, record=EMPTY_RECORD), START)


def modelled(owed: Outcome, held: dict[bytes, int]) -> tuple[int, ...]:
    """What the rule says: entry i of an asset is worth min(amount i, max(0, held - amounts before i))."""
    worth = []
    for place, entry in enumerate(owed):
        before = sum(each.amount for each in owed[:place] if each.asset == entry.asset)
        worth.append(min(entry.amount, max(0, held[entry.asset] - before)))
    return tuple(worth)
