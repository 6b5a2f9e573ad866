"""An overview among three participants, against the adjudicator's twin: the shares of a silent mover's channel are what
the chain pays, no matter who looks and who challenges."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ETHER, ChallengeWanted, ChannelHistory, ChooseMove, ConcludeWanted, MoveChosen, Phase, word
from forcemove.history.overview import CHALLENGE, Silence, overview
from forcemove.protocol.machine.results import Share
from tests.protocol.table import DEPOSIT, CountingGame, Table
from tests.protocol.test_machine_after_an_end import carol_after_an_end

COUNT = 3
TURNS = range(5, 12)
OTHERS = (1, 2)


def played_until(turn: int) -> Table:
    """Each move takes something from its maker's successor, so that no two turns pay the same; nobody signs a state
    after this turn."""

    def choose(question: ChooseMove) -> MoveChosen | None:
        state = question.state
        if state.turn_num >= turn:
            return None
        giver, taker, amount = (state.turn_num + 2) % COUNT, (state.turn_num + 1) % COUNT, state.turn_num % 4 + 1
        changed = list(state.outcome)
        changed[giver] = replace(changed[giver], amount=changed[giver].amount - amount)
        changed[taker] = replace(changed[taker], amount=changed[taker].amount + amount)
        return MoveChosen(tuple(changed), word(int.from_bytes(state.app_data) + 1))

    table = Table(CountingGame(COUNT), [choose] * COUNT)
    table.run()
    return table


def silence_seen(table: Table, index: int) -> Silence:
    found = overview(table.seats[index].channel, ChannelHistory(), table.now).silence
    assert found is not None
    return found


def require_paid(table: Table, shares: tuple[Share, ...] | None) -> None:
    assert shares is not None
    assert table.held == 0
    for share in shares:
        address = table.agreement.fixed_part.participants[share.participant]
        assert table.payouts[address] == share.payable
    assert sum(each.payable for each in shares) == COUNT * DEPOSIT


@pytest.mark.parametrize("challenger", OTHERS)
@pytest.mark.parametrize("is_challenged", [False, True])
@pytest.mark.parametrize("turn", TURNS)
def test_what_is_paid_if_the_mover_is_silent(turn: int, *, is_challenged: bool, challenger: int) -> None:
    table = played_until(turn)
    mover = (turn + 1) % COUNT
    challenging, present = (
        table.seats[(mover + challenger) % COUNT],
        [seat for seat in table.seats if seat.index != mover],
    )
    seen = [silence_seen(table, index) for index in range(COUNT)]
    challenging.feed(ChallengeWanted())
    for seat in table.seats:
        seat.read_chain()
    if is_challenged:
        seen = [silence_seen(table, index) for index in range(COUNT)]
        status = table.chain.status_of(table.agreement.channel_id)
        assert {each.finalizes_at for each in seen} == {status.finalizes_at}
    assert {each.participant for each in seen} == {mover}
    assert len({each.shares for each in seen}) == 1
    table.wait_for_expiry()
    table.run(present)
    require_paid(table, seen[0].shares)


@pytest.mark.parametrize("turn", TURNS)
def test_what_is_paid_if_it_ends_now(turn: int) -> None:
    table = played_until(turn)
    seen = [overview(seat.channel, ChannelHistory(), table.now).result.shares for seat in table.seats]
    assert len(set(seen)) == 1
    for seat in table.seats:
        seat.feed(ConcludeWanted())
    table.run()
    for _ in range(5):
        table.travel(table.agreement.fixed_part.challenge_duration)
        table.run()
    require_paid(table, seen[0])


@pytest.mark.parametrize("paid_in", range(COUNT))
def test_who_has_not_paid_in_is_waited_for(paid_in: int) -> None:
    """So many have paid in, and the next one is away."""
    table = Table(CountingGame(COUNT), [lambda _: None] * COUNT)
    away = table.seats[paid_in]
    for _ in range(60):
        for seat in table.seats:
            if seat is not away or seat.channel.next_turn <= away.index:
                seat.poll()
    assert table.held == paid_in * DEPOSIT
    for seat in table.seats:
        if seat is not away:
            silence = silence_seen(table, seat.index)
            assert silence.participant == away.index
            assert silence.shares is not None
            assert [each.payable for each in silence.shares if each.asset == ETHER] == [
                DEPOSIT if index < paid_in else 0 for index in range(COUNT)
            ]


def test_an_old_state_that_is_challenged_changes_nothing_where_we_hold_an_answer() -> None:
    table = played_until(9)
    before = silence_seen(table, 1)
    table.challenge(*table.setup_states()[-COUNT:])
    seat = table.seats[1]
    seat.read_chain()
    assert seat.phase is Phase.CHALLENGED
    assert silence_seen(table, 1) == before


def test_who_has_signed_an_end_that_the_chain_has_not_is_offered_a_challenge_alone() -> None:
    """Nobody is waited for, and there is nothing to sign."""
    carol = carol_after_an_end()
    seen = overview(carol.channel, ChannelHistory(), carol.table.now)
    assert seen.silence is None
    assert [(each.kind, each.shares) for each in seen.options] == [(CHALLENGE, seen.result.shares)]
