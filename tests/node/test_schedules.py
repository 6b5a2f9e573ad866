"""Random weather: endpoints that fail, lag, leave out logs, answer nonsense and are replaced, fees that jump, blocks
that are undone, disks that are full or slow, clocks that jump, processes that die, a counterparty that falls silent or
challenges with old states. However it comes, an honest player whose machine is back in time is paid what the newest
state says.

A schedule is made of its seed alone, which is the test's name. On a chain in this process twelve are in the normal run
and fifteen hundred under --long; on a real anvil some of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from forcemove.chain.local import AnvilChain
from forcemove.protocol.machine.channel import Phase
from tests.sampled import with_sample
from tests.scenarios.story import DURATION, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.grounds import AnvilGround, MemoryGround
from tests.simulation.table import TICK, Table


@pytest.fixture
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    chain = MemoryChain()
    playground = Playground.on(chain)
    made = Table(MemoryGround(chain), playground, tmp_path, getattr(request, "param", 0))
    yield made
    made.close()


@pytest.fixture
def table_with_liar(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    chain = MemoryChain()
    playground = Playground.on(chain)
    made = Table(MemoryGround(chain), playground, tmp_path, request.param, with_liar=True)
    yield made
    made.close()


@pytest.fixture
def anvil_table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    with AnvilChain("--block-base-fee-per-gas", str(10**9)) as chain:
        playground = Playground.on(chain)
        made = Table(AnvilGround(chain), playground, tmp_path, getattr(request, "param", 0))
        yield made
        made.close()


def named(seed: object) -> str:
    return f"seed {seed}"


@pytest.mark.parametrize("table", with_sample(range(1000), range(8)), indirect=True, ids=named)
def test_in_any_weather_an_honest_player_is_paid_what_is_owed(table: Table) -> None:
    table.storm()
    table.clear_up()
    table.require_paid()


@pytest.mark.parametrize("table_with_liar", with_sample(range(500), range(4)), indirect=True, ids=named)
def test_threat_43_in_any_weather_beside_a_liar_an_honest_player_is_paid_what_is_owed(table_with_liar: Table) -> None:
    table_with_liar.storm()
    table_with_liar.clear_up()
    table_with_liar.require_paid()


@pytest.mark.parametrize("anvil_table", with_sample(range(100), range(1)), indirect=True, ids=named)
def test_in_any_weather_on_a_real_chain_an_honest_player_is_paid_what_is_owed(anvil_table: Table) -> None:
    anvil_table.storm()
    anvil_table.clear_up()
    anvil_table.require_paid()


# ------------------------------------------------------------------------------------ around every one of the channel's


def undo_the(number: int, again: float, seen: bool, table: Table) -> None:
    """Played in fine weather, with one challenge with old states; the block of this transaction is undone once, before
    or after both have seen it."""
    mined = 0
    while table.alice.managed.phase is not Phase.CLOSED:
        table.poll()
        table.pass_time()
        if not table.was_challenged:
            table.challenge_with_old_states()
        if table.ground.has_transactions():
            mined += 1
            if mined == number:
                for _ in range(seen):
                    table.poll()
                table.reorganise(1, again=again)
        assert table.now < LONG_ENOUGH, table.alice.managed.phase
    table.clear_up()
    table.require_paid()
    assert mined >= max(number, LAST - 1)  # a challenge that is forgotten needs no answer
    assert table.was_challenged


LONG_ENOUGH = 1e6 + 400 * TICK
LAST = 5
"""Two deposits, a challenge, its answer, and the end."""


SAMPLE = (2, 0.0, True), (4, 0.0, True)


def each_in_turn() -> list[object]:
    """Every transaction, undone in two of the four ways; in all of them under --long."""
    return [
        pytest.param(
            number,
            again,
            seen,
            id=f"{number}-{'waiting again' if again else 'forgotten'}-{'seen' if seen else 'unseen'}",
            marks=() if bool(again) != seen else pytest.mark.long,
        )
        for number, again, seen in product(range(1, LAST + 1), (0.0, 1.0), (False, True))
    ]


@pytest.mark.parametrize(("number", "again", "seen"), each_in_turn())
def test_threat_49_every_transaction_can_be_undone_once(table: Table, number: int, again: float, seen: bool) -> None:
    undo_the(number, again, seen, table)


@pytest.mark.parametrize(
    ("number", "again", "seen"),
    with_sample(product(range(1, LAST + 1), (0.0, 1.0), (False, True)), SAMPLE),
)
def test_threat_49_every_transaction_can_be_undone_once_on_a_real_chain(
    anvil_table: Table, number: int, again: float, seen: bool
) -> None:
    undo_the(number, again, seen, anvil_table)


# --------------------------------------------------------------------------------------------------- the test can fail


def stay_away(table: Table) -> None:
    """Alice's machine is not back in time; then her loss is found."""
    while table.alice.managed.channel.next_turn < 40:
        table.poll()
        table.pass_time()
    newest = table.alice.managed.channel.newest
    assert newest is not None
    owed = newest.state.outcome[0].amount
    opening = table.assembly.agreement.outcome[0].amount
    table.challenge_with_old_states()
    table.pass_time(DURATION // TICK + 2)
    table.is_silent = True
    table.clear_up()
    assert owed > opening
    with pytest.raises(AssertionError):
        table.require_paid()


def test_the_loss_of_who_stays_away_beyond_the_clock_is_found(table: Table) -> None:
    stay_away(table)


def test_the_loss_of_who_stays_away_beyond_the_clock_is_found_on_a_real_chain(anvil_table: Table) -> None:
    stay_away(anvil_table)
