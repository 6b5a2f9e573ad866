"""The stage of a demonstration: a chain with the contracts, two players with money, and channels between them."""

from __future__ import annotations

from collections.abc import Callable
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
from channel.node.client import Client, Event, Fault, Mined, Refused, Sent
from channel.node.memory import MemoryStore, MemoryTransport
from channel.protocol.agreement import Agreement, agree
from channel.protocol.effects import ChooseMove, Submission
from channel.protocol.hashing import keccak256
from channel.protocol.inputs import ConcludeWanted, MoveChosen
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
    """Where stories are played. `asset`: 20 bytes; `stake`: in its smallest unit; `duration`: seconds."""

    chain: Chain
    book: AddressBook
    keys: tuple[Key, Key]
    stake: int
    duration: int
    show: Show
    asset: bytes = ETHER
    first_nonce: int = 0
    save_to: Path | None = None
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
    """One seat: a client, its line to the other, and a bot that can be told to leave, to hold still, or to give up."""

    def __init__(self, seat: int, bot: Any) -> None:
        self.seat, self.bot = seat, bot
        self.leave_after: int | None = None
        self.holds = False
        self.pauses_when: Callable[[VariablePart], bool] = lambda _: False
        self.stops_when_lost = False
        self.stopped = False
        self.asked: ChooseMove | None = None
        self.refusals: list[ForcemoveError] = []
        self.client: Client

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """The bot's move, unless the story wants otherwise."""
        self.asked = question
        if self.stops_when_lost and self.bot.is_lost(question.state):
            self.stopped = True
        if self.holds or self.stopped or self.pauses_when(question.state):
            return None
        return self.decide()

    def decide(self) -> MoveChosen | ConcludeWanted:
        """What the bot would do about the last question."""
        if self.asked is None:
            raise RuntimeError("nobody has asked")
        state = self.asked.state
        another_round = self.leave_after is None or state.turn_num < self.leave_after
        move = self.bot.move(state, another_round=another_round)
        return ConcludeWanted() if move is None else MoveChosen(*move)

    def is_between_rounds(self, state: VariablePart) -> bool:
        """Whether whoever does not want another round may leave after `state`."""
        return self.bot.move(state, another_round=False) is None

    @property
    def newest(self) -> SignedState:
        """The newest state that this player has."""
        newest = self.client.channel.newest
        if newest is None:
            raise RuntimeError("the channel has no state")
        return newest.signed


class Table:
    """One channel: an agreement, two players, and everything that was signed."""

    def __init__(self, stage: Stage, game: Any, nonce: int, careless: int | None) -> None:
        self.stage, self.game = stage, game
        self.errors = app_errors(game.contract, game.errors)
        self.adjudicator = Adjudicator(stage.chain, stage.book.adjudicator, self.errors)
        self.agreement = self._agree(nonce)
        self.lines = MemoryTransport.table(2)
        self.signed: list[SignedState] = []
        self.before = {key.address: stage.balance(key.address) for key in stage.keys}
        self._spent_before = dict(stage.spent)
        self.players = tuple(self._player(seat, careless) for seat in (0, 1))
        self.attempt = "sends something"

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
        player = Player(seat, bot)
        player.client = Client(
            self.agreement,
            self.stage.keys[seat],
            self.game,
            self.adjudicator,
            self.lines[seat],
            MemoryStore(),
            player.choose,
            report=lambda event: self._report(player, event),
            from_block=self.stage.chain.block_number(),
        )
        return player

    def play(self, until: Callable[[], bool] = lambda: False) -> None:
        """Let both go on until nothing changes any more, or until `until` says so after a poll."""
        while not until():
            changed = False
            for player in self.players:
                changed = player.client.poll() or changed
                if until():
                    return
            if not changed:
                return

    # ------------------------------------------------------------------------------------------------------- showing

    def _report(self, player: Player, event: Event) -> None:
        name = self.stage.show.names[player.seat]
        match event:
            case Sent(signed):
                self._show_turn(player.seat, signed)
            case Mined(submission, receipt):
                self.stage.charge(self.stage.keys[player.seat].address, receipt)
                self.stage.show.transaction(name, _DONE[type(submission).__name__], receipt.gas_used)
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
