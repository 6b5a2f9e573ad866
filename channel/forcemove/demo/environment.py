"""The environment of a demonstration: a chain with the contracts, and players with money."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forcemove.arena.participant import LocalParticipant
from forcemove.artifact import Artifact
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Call, Chain, Receipt, contract_address
from forcemove.chain.codec import function
from forcemove.chain.create2 import CUSTOMARY_FACTORY, PRESIGNED_COST, PRESIGNED_PRICE, derived_address
from forcemove.chain.deployment import contracts_to_deploy
from forcemove.chain.factory import factory_stands
from forcemove.chain.token import Token
from forcemove.contracts import artifact
from forcemove.demo.names import NAMES
from forcemove.demo.output import DemoOutput
from forcemove.demo.results import TransactionJson
from forcemove.errors import ChainError
from forcemove.game import Game, PlayableApp
from forcemove.inspect.journal_channel import JournalChannel, read_channels
from forcemove.node.assemble import Assembly, assemble
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER
from forcemove.sessions.errors import CannotPayIn
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelUpdate, Ownership

MAX_COST = 10**17
"""The highest cost of one transaction's gas, in wei, however little is at stake, since it is to be shown."""
_POLL_SECONDS = 0.25
_PLAYER_GAS = 1_200_000
"""Gas that a player keeps ether for in each scenario: what any of them uses, and the limit of its last transaction."""
_TRANSFER_GAS = 75_000
"""Gas to pay for in advance to send ether, or to have a token do something: the limit has headroom."""


def counterparty_key(payer: Key, seat: int = 1) -> Key:
    """The throw-away account of a seat other than the payer's, which is 0. Only its payer can make it again: money that
    an interrupted run leaves there is not lost."""
    number = b"" if seat == 1 else b"%d" % seat
    return Key(keccak256(b"forcemove demo counterparty" + number + payer.secret))


@dataclass
class DemoEnvironment:
    """What scenarios are played with: a chain with the contracts, and players with money.

    - `chain`: the chain; `others`: the same through other endpoints, by which channels are followed, too.
    - `keys`: of the players, by seat, for the scenario that has most.
    - `output`: is told what happens.
    - `stake`: in the smallest unit of `asset` (20 bytes).
    - `duration`: of a challenge, in seconds.
    - `tables`: how many channels were opened so far.
    - `save_to`: the folder for every signed state, None for none.
    - `journals`: of the players, by seat, where the chain outlives us; none where they are in memory.
    - `deployment`: once the contracts are deployed.
    - `factory`: 20 bytes, of the contracts that are deployed already or will be.
    - `patience`: seconds that each waits for another's turn.
    - `look_every`: seconds between looks at the chain.
    - `spent`: every transaction so far.
    - `players`: who have played, by seat.
    """

    chain: Chain
    keys: tuple[Key, ...]
    output: DemoOutput
    stake: int
    duration: int
    tables: int = 0
    save_to: Path | None = None
    journals: Sequence[Journal] = ()
    deployment: AddressBook | None = None
    factory: bytes = CUSTOMARY_FACTORY
    asset: bytes = ETHER
    patience: float = 60.0
    look_every: float = 1.0
    spent: list[TransactionJson] = field(default_factory=list)
    players: dict[int, LocalParticipant] = field(default_factory=dict)
    others: tuple[Chain, ...] = ()

    @property
    def book(self) -> AddressBook:
        """The address book of the contracts."""
        if self.deployment is None:
            raise RuntimeError("the contracts are not deployed yet")
        return self.deployment

    @property
    def deposit(self) -> int:
        """What each player pays into a channel: five stakes."""
        return self.stake * DEPOSIT_IN_STAKES

    def assemble(self, game: Game, seats: int) -> Assembly:
        """A new channel between the first `seats` players."""
        return assemble(
            self.chain,
            self.book,
            game,
            [key.address for key in self.keys[:seats]],
            stake=self.stake,
            deposit=self.deposit,
            duration=self.duration,
            asset=self.asset,
            others=self.others,
        )

    def player(self, seat: int) -> LocalParticipant:
        """Who plays a seat in every channel."""
        if seat not in self.players:
            journal = self.journals[seat] if self.journals else None
            self.players[seat] = LocalParticipant(NAMES[seat], self.keys[seat], self.on_error, journal=journal)
        return self.players[seat]

    def on_error(self, error: Exception) -> None:
        """Show an error of the chain, after which it is tried again; an error that lasts is raised by the scenario's
        own look at the chain. Raises every other error."""
        if not isinstance(error, ChainError):
            raise error
        self.output.status("The chain does not answer; trying again")

    def unfinished(self, games: Sequence[Game]) -> list[JournalChannel]:
        """The channels that an earlier run has left on this chain, each as one of the players' journals has it. Others
        in these journals, such as those of a person's games, are left alone. `games`: those that are installed."""
        found = [each for journal in self.journals for each in read_channels(journal, games)[0]]
        return list({each.id: each for each in found if self._has_left(each)}.values())

    def _has_left(self, stored: JournalChannel) -> bool:
        agreement, ours = stored.channel.agreement, tuple(key.address for key in self.keys)
        is_here = agreement.domain.chain_id == self.chain.chain_id
        is_among_us = agreement.fixed_part.participants == ours[: agreement.count]
        return stored.ownership is Ownership.ACTIVE and is_here and is_among_us

    def forget(self, channel_id: bytes) -> None:
        """Finish a channel in which nothing is left."""
        for player in self.players.values():
            player.leave(channel_id)
        for journal in self.journals:
            stored = journal.load(channel_id)
            if stored is not None and stored.ownership is Ownership.ACTIVE:
                done = ChannelUpdate(channel_id, stored.version, stored.snapshot, finished=True)
                journal.commit(Batch((done,)))

    # --------------------------------------------------------------------------------------------------------- money

    def settle(self) -> None:
        """Wait until no transaction of the players is on its way any more."""
        accounts = [key.address for key in self.keys]
        while any(self.chain.nonce_of(each, block="pending") > self.chain.nonce_of(each) for each in accounts):
            time.sleep(_POLL_SECONDS)

    def transact(self, call: Call, key: Key, operation: str) -> Receipt[Any]:
        """Send a transaction of no channel, and count its cost."""
        receipt = self.chain.send(call, key)
        self.charge(key.address, receipt, operation)
        return receipt

    def charge(self, account: bytes, receipt: Receipt[Any], operation: str) -> bool:
        """Count the cost of a transaction for its sender, once; whether it is new."""
        hash_, cost = receipt.transaction_hash, receipt.gas_used * receipt.gas_price
        mined = TransactionJson.of(receipt, hash=hash_, operation=operation, sender=account, gas_cost=cost)
        is_new = all(each.hash != mined.hash for each in self.spent)
        if is_new:
            self.spent.append(mined)
        return is_new

    def balance(self, account: bytes, asset: bytes) -> int:
        """An account's balance of an asset."""
        if asset == ETHER:
            return self.chain.balance(account)
        return Token(self.chain, asset).balance_of(account)

    def require_funds(self, seats: Sequence[int], games: Iterable[PlayableApp], *, in_ether: bool) -> None:
        """Refuse scenarios of this many players each before anything is sent, unless the payer can deploy what is
        missing, and give the others what they lack. Raises `CannotPayIn`.

        - `seats`: the number of players of each scenario.
        - `games`: whose contracts are deployed.
        - `in_ether`: whether ether is played for, and not a token that is made for the occasion.
        """
        contracts = [each for each in contracts_to_deploy(games) if self._is_missing(each)]
        contracts += [] if in_ether else [artifact("DemoToken")]
        price, needed = self.chain.fees().max_fee_per_gas, 0
        if not factory_stands(self.chain, self.factory):
            # Nodes suggest the price of gas of the presigned transaction that brings the factory, too.
            price, needed = price + PRESIGNED_PRICE, PRESIGNED_COST
        calls = 2 * len(self.keys) if in_ether else 4 * len(self.keys)
        needed += price * (sum(map(_gas_to_deploy, contracts)) + calls * _TRANSFER_GAS)
        needed += self._needs(0, seats, price, in_ether=in_ether)
        needed += sum(self._lacks(seat, seats, price, in_ether=in_ether) for seat in range(1, len(self.keys)))
        payer = self.keys[0].address
        if (balance := self.chain.balance(payer)) < needed:
            raise CannotPayIn(payer, balance, needed)

    def _is_missing(self, contract: Artifact) -> bool:
        return not self.chain.code(derived_address(contract, self.factory))

    def _needs(self, seat: int, seats: Sequence[int], price: int, *, in_ether: bool) -> int:
        """The ether, in wei, that a player needs for its scenarios, at this price of gas."""
        scenarios = sum(seat < count for count in seats)
        return scenarios * (_PLAYER_GAS * price + (self.deposit if in_ether else 0))

    def _lacks(self, seat: int, seats: Sequence[int], price: int, *, in_ether: bool) -> int:
        return max(0, self._needs(seat, seats, price, in_ether=in_ether) - self.chain.balance(self.keys[seat].address))

    def fund_counterparties(self, seats: Sequence[int], *, in_ether: bool) -> None:
        """Give each throw-away account the ether that it lacks for scenarios of this many players."""
        for seat in range(1, len(self.keys)):
            missing = self._lacks(seat, seats, self.chain.fees().max_fee_per_gas, in_ether=in_ether)
            if missing > 0:
                receipt = self.transact(Call(self.keys[seat].address, b"", missing), self.keys[0], "fund")
                self.output.transaction(NAMES[0], "sends the throw-away counterparty ether", receipt.gas_used)

    def return_rest(self) -> None:
        """Send the balances of the throw-away accounts back to the payer."""
        payer, *others = self.keys
        for name, other in zip(NAMES[1:], others, strict=False):
            rest = self.chain.balance(other.address) - _TRANSFER_GAS * self.chain.fees().max_fee_per_gas
            if rest > 0:
                receipt = self.transact(Call(payer.address, b"", rest), other, "return")
                self.output.transaction(name, "sends back what is left", receipt.gas_used)

    def make_token(self, scenarios: int) -> None:
        """Deploy a worthless token, give each player enough of it, and let the adjudicator take it; the scenarios then
        play for it."""
        payer, amount = self.keys[0], self.deposit * scenarios
        signed = self.chain.sign(Call(None, artifact("DemoToken").bytecode), payer)
        self.chain.broadcast(signed)
        self.charge(payer.address, self.chain.wait(signed), "deploy token")
        self.asset = contract_address(signed.sender, signed.nonce)
        self.output.play_for("DEMO")
        mint, token = function("mint", "DemoToken"), Token(self.chain, self.asset)
        for key in self.keys:
            self.transact(Call(self.asset, mint.encode(key.address, amount)), payer, "mint")
            self.transact(token.approve(self.book.adjudicator, amount), key, "approve")


def _gas_to_deploy(contract: Artifact) -> int:
    """At most: 200 gas for a byte that is stored, 16 for one that is sent, and a little for running the constructor."""
    return 60_000 + 220 * len(contract.bytecode)
