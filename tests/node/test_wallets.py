"""A player whose session key has no ether: a wallet elsewhere pays in, pays the gas and is paid. The wallet here is a
test that signs what is listed, or does not, as people do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.deployment import deploy
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.chain.token import Token
from forcemove.flow.channel import moves_of
from forcemove.node.assemble import Assembly, assemble
from forcemove.node.memory import MemoryMessenger
from forcemove.node.setup import ChannelSetup
from forcemove.node.wallets import WalletRequest
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.effects import ChooseMove, operation_name
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.outcome import address_destination
from forcemove.protocol.rule_errors import NothingToDeposit
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME
from tests.chain.world import deploy_contract
from tests.process import Process, memory_journal

ADMIN, ALICES, BOBS = local_keys()[:3]
"""Who deploys, and the wallets' keys."""
STAKE, DEPOSIT, DURATION = 10**16, 5 * 10**16, 3_600


@dataclass
class Player:
    """A session key without ether, and a process that plays with it."""

    seat: int
    wallet: Key
    key: Key = field(default_factory=lambda: Key(secrets.token_bytes(32)))
    journal: Journal = field(default_factory=memory_journal)
    leave_after: int = 9
    is_silent: bool = False
    process: Process = field(init=False)

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        if self.is_silent:
            return None
        return moves_of(GAME.bot(self.seat), another_round=lambda state: state.turn_num < self.leave_after)(question)


class Table:
    """A channel of two such players, who are paid at their wallets' addresses."""

    def __init__(self, chain: EmbeddedChain, folder: Path, asset: bytes = ETHER) -> None:
        self.chain, self.asset = chain, asset
        self.players = (Player(0, ALICES), Player(1, BOBS))
        self.assembly: Assembly = assemble(
            chain,
            deploy(chain, ADMIN, folder / "book.json", [GAME]),
            GAME,
            [each.key.address for each in self.players],
            stake=STAKE,
            deposit=DEPOSIT,
            duration=DURATION,
            asset=asset,
            destinations=[address_destination(each.wallet.address) for each in self.players],
        )
        self._lines = MemoryMessenger.table(2)
        for each in self.players:
            self.start(each)
        self.before = [self.balance(each) for each in self.players]
        self.gas = [0, 0]

    def start(self, player: Player) -> None:
        """Begin a process for this player, or go on in another one's place."""
        setup = ChannelSetup(
            self.assembly,
            player.key,
            self._lines[player.seat],
            player.choose,
            payer=player.wallet.address,
            block_time=0,
        )
        player.process = Process(setup, player.journal)

    def balance(self, player: Player) -> int:
        """What the wallet has of the channel's asset."""
        if self.asset == ETHER:
            return self.chain.balance(player.wallet.address)
        return Token(self.chain, self.asset).balance_of(player.wallet.address)

    def gain(self, player: Player) -> int:
        """What the wallet has won or lost, without the price of gas."""
        gas = self.gas[player.seat] if self.asset == ETHER else 0
        return self.balance(player) - self.before[player.seat] + gas

    def rest(self) -> None:
        """Both do all that they can without their wallets."""
        for _ in range(200):
            if not [each for each in self.players if each.process.poll()]:
                return
        raise AssertionError("they never come to rest")

    def listed(self, player: Player) -> list[str]:
        """What the player's wallet is asked for."""
        return [operation_name(each.channel_tx.submission) for each in player.process.node.wallet_requests()]

    def sign(self, player: Player, request: WalletRequest) -> None:
        """Sign and send in the wallet what is asked for, as a person does that looks first at what it is."""
        request_, wallet = request.request, player.wallet
        assert request.account.address == wallet.address
        assert request_.to == self.assembly.adjudicator.address
        allowance = request_.allowance
        if (
            allowance is not None
            and Token(self.chain, allowance.token).allowance(wallet.address, allowance.spender) == 0
        ):
            self._send(player, Token(self.chain, allowance.token).approve(allowance.spender, allowance.amount))
        self._send(player, request_.call)

    def _send(self, player: Player, call: Call) -> None:
        receipt = self.chain.send(call, player.wallet, self.assembly.adjudicator.errors)
        self.gas[player.seat] += receipt.gas_used * receipt.gas_price

    def sign_all(self, rounds: int = 60) -> None:
        """Play on, and let both wallets sign whatever is asked for."""
        for _ in range(rounds):
            self.rest()
            asked = [(each, listed) for each in self.players for listed in each.process.node.wallet_requests()]
            if not asked:
                return
            self.sign(*asked[0])
        raise AssertionError("they never come to an end")


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
