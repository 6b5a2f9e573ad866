"""A player whose session key has no ether: a wallet elsewhere pays in, pays the gas and is paid."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove import ETHER, ChallengeWanted, EmbeddedChain, Phase
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.protocol.machine.effects import operation_name
from forcemove.protocol.rule_errors import NothingToDeposit
from tests.chain.world import deploy_contract
from tests.node.wallets import ADMIN, ALICES, BOBS, DEPOSIT, Table


@pytest.fixture(scope="module")
def chain() -> EmbeddedChain:
    return EmbeddedChain()


@pytest.fixture
def table(chain: EmbeddedChain, tmp_path: Path) -> Table:
    return Table(chain, tmp_path)


def require_paid(table: Table) -> None:
    """The channel has paid all, and to the wallets what its last state says."""
    newest = table.players[0].process.channel.newest
    assert newest is not None
    for player, entry in zip(table.players, newest.state.outcome, strict=True):
        assert player.process.phase is Phase.CLOSED
        assert table.gain(player) == entry.amount - DEPOSIT
        assert table.chain.balance(player.key.address) == 0


def test_session_keys_without_ether_play_and_their_wallets_are_paid(table: Table) -> None:
    table.sign_all()
    require_paid(table)
    assert [table.listed(each) for each in table.players] == [[], []]


def test_a_token_is_approved_and_paid_in_by_the_wallet(chain: EmbeddedChain, tmp_path: Path) -> None:
    token = deploy_contract(chain, "TestToken")
    for wallet in (ALICES, BOBS):
        chain.send(Call(token, function("mint", "TestToken").encode(wallet.address, DEPOSIT)), ADMIN)
    table = Table(chain, tmp_path, token)
    table.sign_all()
    require_paid(table)


def test_a_session_key_challenges_through_its_wallet_and_is_paid_when_the_clock_has_run_out(table: Table) -> None:
    alice, bob = table.players
    bob.is_silent = True
    table.sign_all()
    alice.process.feed(ChallengeWanted())
    assert table.listed(alice) == ["challenge"]
    table.sign_all()
    table.chain.travel_to(alice.process.channel.status.finalizes_at)
    table.sign_all()
    require_paid(table)


def test_threat_12_a_deposit_is_asked_of_the_wallet_though_a_stranger_has_paid_in_one_wei(table: Table) -> None:
    """The contract takes what is missing, and gives the rest back."""
    adjudicator, id_ = table.assembly.adjudicator, table.assembly.agreement.channel_id
    adjudicator.send(adjudicator.deposit(id_, ETHER, 0, 1), ADMIN)
    table.rest()
    assert table.listed(table.players[0]) == ["deposit"]
    table.sign_all()
    assert {each.process.phase for each in table.players} == {Phase.CLOSED}
    assert table.gain(table.players[0]) + table.gain(table.players[1]) == 1


def test_what_the_person_refuses_stays_listed_and_is_not_asked_for_twice(table: Table) -> None:
    alice = table.players[0]
    for _ in range(5):
        table.rest()
        assert table.listed(alice) == ["deposit"]
    (listed,) = alice.process.node.wallet_requests()
    assert listed.request.value == DEPOSIT
    table.sign_all()
    require_paid(table)


def test_a_process_that_is_killed_asks_again_for_what_is_still_wanted(table: Table) -> None:
    alice = table.players[0]
    table.rest()
    assert table.listed(alice) == ["deposit"]
    alice.process.node.release()
    table.start(alice)
    table.rest()
    assert table.listed(alice) == ["deposit"]
    table.sign(alice, alice.process.node.wallet_requests()[0])
    alice.process.node.release()
    table.start(alice)
    table.rest()
    assert "deposit" not in table.listed(alice)
    table.sign_all()
    require_paid(table)


def test_a_deposit_that_is_signed_twice_is_refused_by_the_contract_and_costs_gas_alone(table: Table) -> None:
    alice = table.players[0]
    table.rest()
    (listed,) = alice.process.node.wallet_requests()
    table.sign(alice, listed)
    with pytest.raises(NothingToDeposit):
        table.sign(alice, listed)
    table.rest()
    assert table.listed(alice) == []


def test_no_deposit_is_asked_for_once_the_other_player_has_challenged(table: Table) -> None:
    alice, bob = table.players
    table.rest()
    table.sign(alice, alice.process.node.wallet_requests()[0])
    table.rest()
    assert table.listed(bob) == ["deposit"]
    alice.process.feed(ChallengeWanted())
    table.sign(alice, alice.process.node.wallet_requests()[0])
    table.rest()
    assert "deposit" not in table.listed(bob)
    table.sign_all()
    assert [table.gain(each) for each in table.players] == [0, 0]


def test_an_answer_that_somebody_else_has_given_is_listed_no_more(table: Table) -> None:
    """Bob's wallet is asleep; a stranger sends the answer that was listed for it."""
    alice, bob = table.players
    bob.is_silent = True
    table.sign_all()
    alice.process.feed(ChallengeWanted())
    table.sign(alice, alice.process.node.wallet_requests()[0])
    bob.is_silent = False
    table.rest()
    (answer,) = bob.process.node.wallet_requests()
    assert operation_name(answer.channel_tx.submission) == "respond"
    assert answer.request.deadline == alice.process.channel.status.finalizes_at
    table.chain.send(answer.request.call, ADMIN)
    table.rest()
    assert "respond" not in table.listed(bob)
    table.sign_all()
    require_paid(table)
