"""A table to try things on."""

from __future__ import annotations

import pytest

from forcemove import ETHER, ChooseMove, ConcludeWanted, InvalidValue, Phase, local_keys, local_table
from forcemove_games.tic_tac_toe import GAME
from tests.expected import raising
from tests.sampled import sampled
from tests.viem.table import Counting

STAKE = 10**17


def leave(question: ChooseMove) -> ConcludeWanted:
    return ConcludeWanted()


def test_a_table_is_played_to_its_end() -> None:
    table = local_table(GAME, leave, leave, stake=STAKE)
    assert [channel.phase for channel in table.channels] == [Phase.CHECKING] * 2

    table.play()

    assert [channel.phase for channel in table.channels] == [Phase.CLOSED] * 2
    assert [allocation.amount for allocation in table.outcome] == [5 * STAKE] * 2
    agreement = table.channels[0].channel.agreement
    assert agreement.fixed_part.participants == tuple(key.address for key in local_keys()[:2])
    assert table.adjudicator.holdings_of(agreement.channel_id, ETHER, 0).closed


def test_the_deposit_can_be_another() -> None:
    table = local_table(GAME, leave, leave, stake=STAKE, deposit=STAKE)

    assert table.channels[0].channel.agreement.deposits == ((ETHER, (STAKE, STAKE)),)


@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_any_other_number_of_players_is_refused(count: int) -> None:
    with raising(InvalidValue("players", count, "2 players")):
        local_table(GAME, *[leave] * count, stake=STAKE)


@pytest.mark.parametrize("count", [1, 9])
def test_an_app_that_says_nothing_of_seats_has_as_many_as_a_channel(count: int) -> None:
    with raising(InvalidValue("players", count, "2 or 3 or 4 or 5 or 6 or 7 or 8 players")):
        local_table(Counting(), *[leave] * count, stake=STAKE)


@pytest.mark.parametrize("count", sampled([2, 5, 8], every=3))
def test_as_many_play_as_there_are_seats(count: int) -> None:
    table = local_table(Counting(), *[leave] * count, stake=STAKE)
    table.play()

    assert [channel.phase for channel in table.channels] == [Phase.CLOSED] * count


def test_a_deposit_below_the_stake_is_refused() -> None:
    with pytest.raises(InvalidValue):
        local_table(GAME, leave, leave, stake=STAKE, deposit=STAKE - 1)
