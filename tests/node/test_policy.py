"""Before money moves: rows 50 and 51 of the list of attacks."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from forcemove import ETHER, Assembly, ChannelSetup, MemoryMessenger, Node, assemble, open_journal, undecided
from forcemove.chain.asking import ask_now
from forcemove.chain.chain import Fees
from forcemove.chain.errors import Unreachable
from forcemove.chain.prices import AMSTERDAM, OSAKA
from forcemove.node import policy
from forcemove.node.errors import ChannelInUse
from forcemove.node.policy import (
    Conditions,
    ConditionsCache,
    DurationTooShort,
    NotWorthItsDisputes,
    Policy,
    ask_block_time,
    costs_of,
    dispute_gas_of,
    usual_gas,
)
from forcemove.store.records import ChannelLease, LeaseName, StoredChannel, TakenLeases
from forcemove.workers import chain_defaults
from forcemove.workers.chain_defaults import default_confirmations
from forcemove_games.tic_tac_toe import GAME
from forcemove_games.tic_tac_toe.game import TicTacToe
from tests.process import memory_journal
from tests.scenarios.story import KEYS, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

GWEI = 10**9
MAINNET, ANVIL = 1, 31337


def now(fees: Fees) -> Conditions:
    return Conditions(fees, 12.0)


def channel(playground: Playground, *, deposit: int = 10**18, duration: int = 3600) -> Assembly:
    addresses = [key.address for key in KEYS]
    return assemble(
        playground.chain, playground.book, GAME, addresses, stake=deposit // 5, deposit=deposit, duration=duration
    )


def test_costs_are_those_of_the_present_fee(playground: Playground) -> None:
    agreement = channel(playground).agreement
    costs = costs_of(agreement, 0, now(Fees(21 * GWEI, GWEI)), object())
    assert costs.deposits == ((ETHER, 10**18),)
    assert costs.usual == (46_500 + 60_800) * 11 * GWEI
    assert costs.disputes == 6 * 56_150 * 11 * GWEI
    assert costs_of(agreement, 0, now(Fees(11 * GWEI, 11 * GWEI, is_legacy=True)), object()) == costs
    dear = costs_of(agreement, 0, Conditions(Fees(21 * GWEI, GWEI), 12.0, AMSTERDAM), object())
    assert dear.usual == (134_600 + 67_000) * 11 * GWEI
    assert dear.disputes == 6 * 57_750 * 11 * GWEI


def test_disputes_cost_what_the_game_says_that_they_cost(playground: Playground) -> None:
    """Also where a node asks, before it begins a channel: half a deposit that is enough for one game is not for one
    whose disputes are dear."""
    made = channel(playground)
    assert GAME.dispute_gas != OSAKA.usual_dispute
    assert dispute_gas_of(GAME, OSAKA) == GAME.dispute_gas
    assert dispute_gas_of(object(), OSAKA) == OSAKA.usual_dispute
    assert usual_gas(made.agreement, GAME, OSAKA)["challenge"] == GAME.dispute_gas
    costs = costs_of(made.agreement, 0, now(Fees(21 * GWEI, GWEI)), GAME)
    assert costs.disputes == 6 * GAME.dispute_gas * 11 * GWEI


class Dear(TicTacToe):
    dispute_gas = 10**9


def test_threat_51_a_node_asks_the_game_what_its_disputes_cost(playground: Playground) -> None:
    made, lines = channel(playground), MemoryMessenger.table(2)
    node = Node(memory_journal(), policy=Policy())
    with pytest.raises(NotWorthItsDisputes):
        node.add(ChannelSetup(replace(made, app=Dear()), KEYS[0], lines[0], undecided))
    node.add(ChannelSetup(made, KEYS[0], lines[0], undecided))


def test_threat_51_a_channel_below_what_its_disputes_cost_is_refused(playground: Playground) -> None:
    conditions = now(Fees(21 * GWEI, GWEI))
    costs = costs_of(channel(playground, deposit=10**15).agreement, 0, conditions, object())
    with pytest.raises(NotWorthItsDisputes):
        Policy().require_worth(costs)
    Policy(multiple=0).require_worth(costs)
    enough = costs_of(channel(playground, deposit=10**16).agreement, 0, conditions, object())
    Policy().require_worth(enough)
    with pytest.raises(NotWorthItsDisputes):
        Policy(multiple=3).require_worth(enough)


@pytest.mark.parametrize(
    ("duration", "chain_id", "confirmations", "seconds", "fits"),
    [
        (60, ANVIL, 1, 1.0, True),
        (60, ANVIL, 1, 12.0, False),
        (600, MAINNET, 6, 12.0, False),
        (900, MAINNET, 6, 12.0, True),
        (900, MAINNET, 60, 12.0, False),
        (3600, MAINNET, 60, 12.0, True),
    ],
)
def test_threat_50_a_clock_that_cannot_be_met_is_refused(
    duration: int, chain_id: int, confirmations: int, seconds: float, fits: bool
) -> None:
    if fits:
        Policy().require_answerable(duration, chain_id, confirmations, seconds)
        return
    with pytest.raises(DurationTooShort) as raised:
        Policy().require_answerable(duration, chain_id, confirmations, seconds)
    assert raised.value.needed > duration
    Policy().require_answerable(raised.value.needed, chain_id, confirmations, seconds)
    with pytest.raises(DurationTooShort):
        Policy().require_answerable(raised.value.needed - 1, chain_id, confirmations, seconds)


@pytest.mark.parametrize(
    ("chain_id", "confirmations", "seconds", "least"),
    [(ANVIL, 1, 12.0, 1), (MAINNET, 6, 12.0, 84), (MAINNET, 6, 2.1, 15), (MAINNET, 60, 12.0, 732)],
)
def test_a_time_for_a_move_is_long_enough_to_see_what_is_done_on_the_chain(
    chain_id: int, confirmations: int, seconds: float, least: int
) -> None:
    """A block to be mined in, and those that are on it once it is believed."""
    assert Policy().least_move_time(chain_id, confirmations, seconds) == least


def test_the_pace_of_a_chain_is_measured(playground: Playground) -> None:
    chain = MemoryChain()
    assert ask_now(chain.rpc, ask_block_time(chain)) == 0
    for _ in range(60):
        chain.node.next_time += 11
        chain.node.mine()
    assert ask_now(chain.rpc, ask_block_time(chain)) == 12


def test_a_node_believes_logs_at_the_depth_that_the_chain_wants(
    playground: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block on a chain of our own, six on others; what its owner says counts more."""
    with open_journal(str(tmp_path / "journal"), owner=secrets.token_bytes(16)) as journal:
        node = Node(journal, policy=None)
        lines = MemoryMessenger.table(2)
        node.add(ChannelSetup(channel(playground), KEYS[0], lines[0], undecided))
        monkeypatch.setattr(chain_defaults, "LOCAL_CHAINS", frozenset())
        node.add(ChannelSetup(channel(playground), KEYS[0], lines[0], undecided))
        node.add(ChannelSetup(channel(playground), KEYS[0], lines[0], undecided, confirmations=3))
        node.poll()
        assert sorted(depth for _, _, depth in node._workers.chains) == [1, 3, 6]


def test_confirmations_are_few_on_chains_of_our_own() -> None:
    assert (default_confirmations(ANVIL), default_confirmations(MAINNET)) == (1, 6)


@pytest.mark.parametrize(("deposit", "duration"), [(10**14, 3600), (10**18, 60)])
def test_threat_50_and_51_a_node_does_not_begin_what_its_policy_refuses(
    playground: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deposit: int, duration: int
) -> None:
    monkeypatch.setattr(policy, "LOCAL_CHAINS", frozenset())
    made = channel(playground, deposit=deposit, duration=duration)
    with open_journal(str(tmp_path / "journal"), owner=secrets.token_bytes(16)) as journal:
        node = Node(journal, policy=Policy())
        with pytest.raises((NotWorthItsDisputes, DurationTooShort)):
            node.add(ChannelSetup(made, KEYS[0], MemoryMessenger.table(2)[0], undecided))
        assert node.channels == {}
        assert journal.ids() == ()


def test_a_clock_that_was_moved_by_hand_says_nothing_about_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = Playground.on(MemoryChain())
    agreement = channel(moved, duration=3600).agreement
    moved.chain.travel_to(moved.chain.now() + 10**6)
    assert ask_now(moved.chain.rpc, ask_block_time(moved.chain)) > 3600
    Policy().require(agreement, 0, 1, ConditionsCache(lambda: 0.0).conditions([moved.chain])[0], object())
    monkeypatch.setattr(policy, "LOCAL_CHAINS", frozenset())
    with pytest.raises(DurationTooShort):
        Policy().require(agreement, 0, 1, ConditionsCache(lambda: 0.0).conditions([moved.chain])[0], object())


def test_fees_and_pace_are_read_once_for_channels_that_are_begun_together(
    playground: Playground, tmp_path: Path
) -> None:
    """And anew after ten seconds; which fork it is, only after ten minutes."""
    chain = playground.chain
    assert isinstance(chain, MemoryChain)
    endpoint, now = Endpoint(chain.node), [0.0]
    through = Playground(MemoryChain(endpoint), playground.book)
    made = [channel(through) for _ in range(6)]
    with open_journal(str(tmp_path / "journal"), owner=secrets.token_bytes(16)) as journal:
        node = Node(journal, clock=lambda: now[0])
        asked = []
        for each in made:
            endpoint.counts.clear()
            node.add(ChannelSetup(each, KEYS[0], MemoryMessenger(), undecided))
            asked.append(endpoint.counts.total())
            now[0] += 2.5
        assert asked == [asked[0], 0, 0, 0, asked[0] - 1, 0]
        assert asked[0] > 0


def test_leases_of_many_are_taken_in_one_commit(playground: Playground, tmp_path: Path) -> None:
    """What is reserved and not added is given back; what another process has is refused when it is added."""
    made = [channel(playground) for _ in range(4)]
    where = str(tmp_path / "journal")
    with (
        open_journal(where, owner=secrets.token_bytes(16)) as journal,
        open_journal(where, owner=secrets.token_bytes(16)) as another,
    ):
        theirs = ChannelLease(made[2].agreement.channel_id)
        another.leases.take([theirs], 60)
        node, taken = Node(journal), list[int]()
        take = journal.leases.take

        def counting(names: Iterable[LeaseName], seconds: float) -> TakenLeases:
            chosen = list(names)
            taken.append(len(chosen))
            return take(chosen, seconds)

        journal.leases.take = counting  # type: ignore[method-assign]
        node.reserve(made, KEYS[0])
        for each in made[:2]:
            node.add(ChannelSetup(each, KEYS[0], MemoryMessenger(), undecided))
        assert taken == [5]
        with pytest.raises(ChannelInUse):
            node.add(ChannelSetup(made[2], KEYS[0], MemoryMessenger(), undecided))
        node.release()
        ids = [ChannelLease(each.agreement.channel_id) for each in made]
        assert another.leases.take(ids, 60).granted == set(ids)


def test_many_channels_are_read_again_in_one_query(playground: Playground, tmp_path: Path) -> None:
    """One that another process has taken since is read when it is added."""
    made, now = [channel(playground) for _ in range(3)], [0.0]
    where = str(tmp_path / "journal")
    with open_journal(where, owner=secrets.token_bytes(16), clock=lambda: now[0]) as journal:
        first = Node(journal, clock=lambda: now[0])
        for each in made:
            first.add(ChannelSetup(each, KEYS[0], MemoryMessenger(), undecided))
        first.poll()
        first.release()
        node, loaded = Node(journal, clock=lambda: now[0]), list[bytes]()
        load = journal.load

        def counting(channel_id: bytes) -> StoredChannel | None:
            loaded.append(channel_id)
            return load(channel_id)

        journal.load = counting  # type: ignore[method-assign]
        node.reserve(made, KEYS[0])
        now[0] += 20.0
        with open_journal(where, owner=secrets.token_bytes(16), clock=lambda: now[0] + 60) as another:
            theirs = made[2].agreement.channel_id
            another.leases.take([ChannelLease(theirs)], 60)
            node.step()  # renews the leases that are left
            another.leases.release([ChannelLease(theirs)])
        driven = [node.add(ChannelSetup(each, KEYS[0], MemoryMessenger(), undecided)) for each in made]
        assert loaded == [theirs]
        assert {each.id: each.version for each in driven} == journal.versions([each.id for each in driven])


def test_threat_54_what_gas_costs_is_asked_of_all_endpoints() -> None:
    """One that says that gas is free begins no channel that is not worth its disputes; nor does one that is dear."""
    node = MemoryChain().node
    endpoints = [Endpoint(node, str(number)) for number in range(2)]
    chains = [MemoryChain(each) for each in endpoints]
    node.base_fee = 10**12
    node.mine()
    endpoints[0].replace("eth_getBlockByNumber", lambda found: {**found, "baseFeePerGas": 0})
    prices = [each.fees.max_fee_per_gas for each in ConditionsCache(lambda: 0.0).conditions(chains)]
    assert prices[0] < 10**10 < 10**12 < prices[1]


def test_threat_46_one_that_fails_is_asked_once_for_many_channels() -> None:
    node = MemoryChain().node
    endpoints = [Endpoint(node, str(number)) for number in range(2)]
    chains, now = [MemoryChain(each) for each in endpoints], 0.0

    def down(method: str, *_: object) -> object:
        raise Unreachable("0", "down")

    endpoints[0].answer = down
    market = ConditionsCache(lambda: now)
    for _ in range(3):
        assert len(market.conditions(chains)) == 1
    assert endpoints[0].counts.total() == 2  # one was its chain's id
    now = 11.0
    market.conditions(chains)
    assert endpoints[0].counts.total() == 3
    endpoints[1].answer = down
    with pytest.raises(Unreachable):
        ConditionsCache(lambda: now).conditions(chains)
