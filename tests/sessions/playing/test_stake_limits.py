"""What a player has lying in channels, which limits say something of."""

from __future__ import annotations

from forcemove.protocol.machine.inputs import ConcludeWanted
from forcemove.sessions.meetings.stake_limits import deposited_in
from tests.protocol.table import DEPOSIT, agreed_table, counting_table, open_table, seated
from tests.protocol.test_results import host_alone


def test_what_lies_in_channels_counts_until_they_are_over() -> None:
    table = open_table(until=3)
    table.run()
    ours = [each.channel for each in table.seats][:1]
    assert deposited_in(ours * 2) == DEPOSIT
    table = counting_table()
    table.run()
    assert deposited_in(each.channel for each in table.seats) == 0


def test_who_has_got_back_what_nobody_played_for_may_play_on() -> None:
    """The guest has never paid in, so that the channel is never closed."""
    table = host_alone()
    alice = table.seats[0]
    assert deposited_in([alice.channel]) == DEPOSIT
    table.run([alice])
    assert deposited_in([alice.channel]) == 0


def test_who_has_left_before_a_payment_was_seen_may_play_on() -> None:
    """Whatever the host does then, nothing is paid in."""
    table, alice, bob = seated(agreed_table())
    assert deposited_in([bob.channel]) == DEPOSIT
    bob.feed(ConcludeWanted())
    assert deposited_in([bob.channel]) == 0
    alice.is_away = True
    table.run()
    assert table.held == DEPOSIT
