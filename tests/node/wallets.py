"""Players whose session keys have no ether, and their wallets, which sign what is listed, or do not, as people do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from forcemove import ETHER, Assembly, ChannelSetup, Key, MemoryMessenger, assemble, deploy, moves_of
from forcemove.chain.chain import Call
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.chain.token import Token
from forcemove.history.tokens import Tokens
from forcemove.node.wallets import WalletRequest
from forcemove.protocol.machine.effects import ChooseMove, operation_name
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.types import address_destination
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME
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

    def __init__(self, chain: EmbeddedChain, folder: Path, asset: bytes = ETHER, tokens: Tokens = ()) -> None:
        self.chain, self.asset = chain, asset
        self.players = (Player(0, ALICES), Player(1, BOBS))
        assembly = assemble(
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
        self.assembly: Assembly = replace(assembly, tokens=tokens)
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
