"""The stage of a demonstration: a chain with the contracts, two players with money, and channels between them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from channel.chain.adjudicator import Adjudicator
from channel.chain.book import AddressBook
from channel.chain.chain import Call, Chain, Receipt, contract_address
from channel.chain.codec import function
from channel.chain.reverts import app_errors
from channel.chain.token import Token
from channel.cli.show import Show
from channel.errors import ForcemoveError
from channel.flow.channel import UPDATES, ConcludeWanted, Line, MoveChosen, Seat, moves_of
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, run
from channel.flow.transport import MemoryTransport
from channel.node.client import Client, Event, Fault, Mined, Refused, Sent
from channel.node.memory import MemoryStore
from channel.protocol.agreement import Agreement, agree
from channel.protocol.effects import Submission, SubmitChallenge
from channel.protocol.hashing import keccak256
from channel.protocol.outcome import Outcome, address_destination
from channel.protocol.signing import Key
from channel.protocol.state import SignedState, VariablePart
from channel.protocol.types import ETHER, FixedPart
from contracts import artifact

__all__ = ["Player", "Stage", "Table", "counterparty_key"]

_GAS_RESERVE = 3_000_000
"""Gas that the counterparty is given ether for: more than all stories together use."""
_TRANSFER_RESERVE = 75_000
"""Gas that must be paid for in advance to send ether back: the limit has headroom."""
_DEPOSIT_IN_STAKES = 5
_DONE = {
    "SubmitDeposit": "deposits",
    "SubmitChallenge": "challenges: the clock starts",
    "SubmitRespond": "responds with the next move",
    "SubmitCheckpoint": "checkpoints a later state",
    "SubmitConclude": "concludes, and all are paid",
    "SubmitTransfer": "has the outcome paid out",
}


def counterparty_key(payer: Key) -> Key:
    """A throw-away account that only its payer can make again: what an interrupted run leaves there is not lost."""
    return Key(keccak256(b"forcemove demo counterparty" + payer.secret))


@dataclass
class Stage:
    """Where stories are played. `asset`: 20 bytes; `stake`: in its smallest unit; `duration`: seconds. `patience`:
    seconds that each waits for the other's turn; `look_every`: seconds between looks at the chain."""

    chain: Chain
    book: AddressBook
    keys: tuple[Key, Key]
    stake: int
    duration: int
    show: Show
    asset: bytes = ETHER
    first_nonce: int = 0
    save_to: Path | None = None
    patience: float = 60.0
    look_every: float = 1.0
    spent: dict[bytes, int] = field(default_factory=dict)

    @property
    def deposit(self) -> int:
        """What each player puts into a channel: the stake is a fifth of it."""
        return self.stake * _DEPOSIT_IN_STAKES

    def transact(self, call: Call, key: Key) -> Receipt[Any]:
        """A transaction beside the channels, its cost counted."""
        receipt = self.chain.send(call, key)
        self.charge(key.address, receipt)
        return receipt

    def charge(self, account: bytes, receipt: Receipt[Any]) -> None:
        """Count what a transaction has cost its sender."""
        self.spent[account] = self.spent.get(account, 0) + receipt.gas_used * receipt.gas_price

    def balance(self, account: bytes) -> int:
        """What an account has of the asset that is played for."""
        if self.asset == ETHER:
            return self.chain.balance(account)
        return Token(self.chain, self.asset).balance_of(account)

    def fund_counterparty(self, stories: int) -> None:
        """Give the throw-away account what it needs for so many stories, less what it has."""
        payer, other = self.keys
        needed = _GAS_RESERVE * self.chain.fees().max_fee_per_gas
        if self.asset == ETHER:
            needed += self.deposit * stories
        missing = needed - self.chain.balance(other.address)
        if missing > 0:
            receipt = self.transact(Call(other.address, b"", missing), payer)
            self.show.transaction(self.show.names[0], "sends the throw-away counterparty ether", receipt.gas_used)

    def return_rest(self) -> None:
        """Send what is left on the throw-away account back to who paid."""
        payer, other = self.keys
        reserve = _TRANSFER_RESERVE * self.chain.fees().max_fee_per_gas
        rest = self.chain.balance(other.address) - reserve
        if rest > 0:
            receipt = self.transact(Call(payer.address, b"", rest), other)
            self.show.transaction(self.show.names[1], "sends back what is left", receipt.gas_used)

    def make_token(self, stories: int) -> None:
        """Deploy a worthless token and give both players enough of it; it is played for from now on."""
        payer = self.keys[0]
        signed = self.chain.sign(Call(None, artifact("DemoToken").bytecode), payer)
        self.chain.broadcast(signed)
        self.charge(payer.address, self.chain.wait(signed))
        self.asset, self.show.symbol = contract_address(signed.sender, signed.nonce), "DEMO"
        mint = function("mint", "DemoToken")
        for key in self.keys:
            self.transact(Call(self.asset, mint.encode(key.address, self.deposit * stories)), payer)

    def table(self, game: Any, *, careless: int | None = None) -> Table:
        """A new channel between the two. `careless`: the seat of a player who does not think."""
        self.first_nonce += 1
        return Table(self, game, self.first_nonce, careless)


class Player:
    """One seat: a client, its place on the table's log, and a bot."""

    def __init__(self, seat: int, name: str, bot: Any, log: MemoryTransport) -> None:
        self.seat, self.name, self.bot = seat, name, bot
        self.line, self.queue = Line(), ActionQueue(log, UPDATES)
        self.refusals: list[ForcemoveError] = []
        self.client: Client

    def place(self, stage: Stage) -> Seat:
        """What the steps of a flow are run with."""
        return Seat(self.name, self.client, self.line, stage.patience, stage.look_every)

    def move(self, *, another_round: bool) -> MoveChosen | ConcludeWanted:
        """What the bot would do next."""
        return moves_of(self.bot, another_round=lambda _: another_round)(self.newest.state)

    @property
    def newest(self) -> SignedState:
        """The newest state that this player has."""
        newest = self.client.channel.newest
        if newest is None:
            raise RuntimeError("the channel has no state")
        return newest.signed


class Table:
    """One channel: an agreement, two players around a log, and everything that was signed. Made inside an event loop;
    `challenged` is who has made the first challenge, once somebody has."""

    def __init__(self, stage: Stage, game: Any, nonce: int, careless: int | None) -> None:
        self.stage, self.game = stage, game
        self.errors = app_errors(game.contract, game.errors)
        self.adjudicator = Adjudicator(stage.chain, stage.book.adjudicator, self.errors)
        self.agreement = self._agree(nonce)
        self.log = MemoryTransport()
        self.signed: list[SignedState] = []
        self.before = {key.address: stage.balance(key.address) for key in stage.keys}
        self._spent_before = dict(stage.spent)
        self.players = tuple(self._player(seat, careless) for seat in (0, 1))
        self.attempt = "sends something"
        self.challenged: asyncio.Future[Player] = asyncio.get_running_loop().create_future()

    def _agree(self, nonce: int) -> Agreement:
        stage = self.stage
        addresses = tuple(key.address for key in stage.keys)
        app = stage.book.find(self.game.contract).address
        return agree(
            self.adjudicator.domain,
            FixedPart(addresses, nonce, app, stage.duration),
            self.game,
            stage.stake,
            ((stage.asset, (stage.deposit, stage.deposit)),),
            tuple(map(address_destination, addresses)),
        )

    def _player(self, seat: int, careless: int | None) -> Player:
        bot = self.game.careless_bot(seat) if seat == careless else self.game.bot(seat)
        player = Player(seat, self.stage.show.names[seat], bot, self.log)
        player.client = Client(
            self.agreement,
            self.stage.keys[seat],
            self.game,
            self.adjudicator,
            player.line,
            MemoryStore(),
            lambda _: None,  # the flows move
            report=lambda event: self._report(player, event),
            from_block=self.stage.chain.block_number(),
        )
        return player

    async def together(self, first: Step[Seat], second: Step[Seat]) -> None:
        """Both players' flows, side by side, until both have ended. Raises what ends one of them early."""
        try:
            async with asyncio.TaskGroup() as group:
                for player, flow in zip(self.players, (first, second), strict=True):
                    group.create_task(self.alone(player, flow))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the other flow was cancelled because of it

    async def alone(self, player: Player, flow: Step[Seat]) -> None:
        """One player's flow, while the other does nothing."""
        await run(flow, player.queue, player.place(self.stage))

    def say(self, player: Player, message: bytes) -> None:
        """Let the other player's client hear this, whatever it is."""
        other = self.players[1 - player.seat]
        other.line.heard.append(message)
        other.client.poll()

    # ------------------------------------------------------------------------------------------------------- showing

    def _report(self, player: Player, event: Event) -> None:
        name = self.stage.show.names[player.seat]
        match event:
            case Sent(signed):
                self._show_turn(player.seat, signed)
            case Mined(submission, receipt):
                self.stage.charge(self.stage.keys[player.seat].address, receipt)
                self.stage.show.transaction(name, _DONE[type(submission).__name__], receipt.gas_used)
                if isinstance(submission, SubmitChallenge) and not self.challenged.done():
                    self.challenged.set_result(player)
            case Refused(submission, error):
                player.refusals.append(error)
                self.stage.show.refused(name, _tried(submission), error)
            case Fault(error):
                player.refusals.append(error)
                self.stage.show.refused(self.stage.show.names[1 - player.seat], self.attempt, error)

    def _show_turn(self, seat: int, signed: SignedState) -> None:
        show, state = self.stage.show, signed.state
        countersigned = any(each.state == state for each in self.signed)
        self.signed.append(signed)
        self._save(signed)
        if state.turn_num < 2 * self.agreement.count:
            show.setup(seat, "prefund" if state.turn_num < self.agreement.count else "postfund", state.turn_num)
            return
        show.turn(self.game, seat, state, countersigned=countersigned)
        if not state.is_final:
            show.board(self.game, state)

    def _save(self, signed: SignedState) -> None:
        if self.stage.save_to is None:
            return
        from channel.protocol.wire import SignedStateFile, encode_file

        file = SignedStateFile(self.agreement.domain, self.agreement.fixed_part, signed)
        name = f"{self.game.name}-{self.agreement.fixed_part.channel_nonce}-turn-{signed.state.turn_num}.json"
        (self.stage.save_to / name).write_text(encode_file(file), "utf-8")

    # ------------------------------------------------------------------------------------------------------- settling

    def check(self, outcome: Outcome) -> bool:
        """Compare the balances on chain with the expected ones: deposits out, the outcome in, less gas."""
        right = True
        for name, key, entry in zip(self.stage.show.names, self.stage.keys, outcome, strict=True):
            expected = self.before[key.address] - self.stage.deposit + entry.amount
            if self.stage.asset == ETHER:
                expected -= self.stage.spent.get(key.address, 0) - self._spent_before.get(key.address, 0)
            found = self.stage.balance(key.address)
            self.stage.show.balance(name, found, expected)
            right = right and found == expected
        holdings = self.adjudicator.holdings_of(self.agreement.channel_id, self.stage.asset)
        return right and holdings.closed and holdings.held == 0

    @property
    def last(self) -> VariablePart:
        """The state of the highest turn that anybody has signed."""
        return max((signed.state for signed in self.signed), key=lambda state: state.turn_num)


def _tried(submission: Submission) -> str:
    return type(submission).__name__.removeprefix("Submit").lower()
