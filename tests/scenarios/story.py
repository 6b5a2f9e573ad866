"""Whole stories on a chain: two clients, what they pay and what they are paid, to the last wei.

Nothing waits: clients are polled, and time is moved. A `Playground` is a chain with the contracts on it and has as
many channels as a test wants; each `Story` is one channel between Alice and Bob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forcemove import ETHER, AddressBook, Bot, ChooseMove, Game, Key, Outcome, deploy, local_keys, moves_of
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.adjudicator import Operation, PlacedLog
from forcemove.chain.chain import Call, Chain, Receipt
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError
from forcemove.node.assemble import Assembly, assemble
from forcemove.node.events import CounterpartyFault, Event, Mined, SubmissionRefused
from forcemove.node.ports import Messenger
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import encode_message
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove.store.journal import Journal
from tests.process import Process, memory_journal
from tests.simulation.chain import MemoryChain

ALICE, BOB, MALLORY, MINER = local_keys()[:4]
KEYS = (ALICE, BOB)
STAKE = 10**17
DEPOSIT = 5 * STAKE
DURATION = 3_600
_nonces = count(1)


@dataclass(frozen=True)
class Playground:
    """A chain with the adjudicator and all games."""

    chain: Chain
    book: AddressBook

    @classmethod
    def on(cls, chain: Chain) -> Playground:
        with TemporaryDirectory() as folder:
            return cls(chain, deploy(chain, MINER, Path(folder) / "book.json"))

    def story(self, game: Game, *, asset: bytes = ETHER, confirmations: int = 1, app: bytes | None = None) -> Story:
        """A new channel; `app`: the address that they agree on, where it is not the game's."""
        assembly = assemble(
            self.chain,
            self.book,
            game,
            [key.address for key in KEYS],
            stake=STAKE,
            deposit=DEPOSIT,
            duration=DURATION,
            asset=asset,
            nonce=next(_nonces),
            app_address=app,
        )
        return Story(self.chain, game, assembly, confirmations)


@dataclass
class Player:
    """One seat: a client, a bot that does as the story says, and what has happened to it."""

    seat: int
    bot: Bot
    leave_after: int = 20
    is_silent: bool = False
    stops_at: int | None = None
    events: list[Event] = field(default_factory=list)
    journal: Journal = field(default_factory=memory_journal)
    question: ChooseMove | None = None
    questions: int = 0
    mistakes: list[MoveChosen] = field(default_factory=list)
    client: Process = field(init=False)

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        self.question, self.questions = question, self.questions + 1
        if self.mistakes:
            return self.mistakes.pop()
        if self.is_silent or (self.stops_at is not None and question.state.turn_num >= self.stops_at):
            return None
        return self.decide()

    def decide(self) -> MoveChosen | ConcludeWanted:
        """The bot's answer to the last question."""
        assert self.question is not None
        return moves_of(self.bot, another_round=lambda state: state.turn_num < self.leave_after)(self.question)

    def decide_at_last(self) -> None:
        """Make the move that was kept back."""
        self.client.feed(self.decide())

    @property
    def stored(self) -> Channel | None:
        """The channel as its journal has it."""
        stored = self.journal.load(self.client.channel.agreement.channel_id)
        return None if stored is None else CHANNELS.decode(stored.snapshot)

    @property
    def evidence(self) -> list[str]:
        """The kinds of the others' faults: those in its journal, and those that go there with the next commit."""
        pending = self.client.managed.executor.evidence
        return [*(each.evidence.kind for each in self.journal.evidence()), *(each.kind for each in pending)]

    @property
    def phase(self) -> Phase:
        return self.client.phase

    @property
    def newest(self) -> SignedState:
        assert self.client.channel.newest is not None
        return self.client.channel.newest.signed

    @property
    def states(self) -> tuple[SignedState, ...]:
        return self.client.channel.signed_states

    @property
    def mined(self) -> list[str]:
        """Its transactions."""
        return [type(event.submission).__name__ for event in self.events if isinstance(event, Mined)]

    @property
    def refused(self) -> list[ForcemoveError]:
        return [event.error for event in self.events if isinstance(event, SubmissionRefused)]

    @property
    def faults(self) -> list[ForcemoveError]:
        return [event.error for event in self.events if isinstance(event, CounterpartyFault)]


class Story:
    """One channel, from the first message to the last payment."""

    def __init__(self, chain: Chain, game: Game, assembly: Assembly, confirmations: int) -> None:
        self.chain, self.game, self.assembly = chain, game, assembly
        self.agreement, self.adjudicator = assembly.agreement, assembly.adjudicator
        self.confirmations = confirmations
        self.asset = self.agreement.deposits[0][0]
        self.first_block = self.chain.block_number()
        self.lines = MemoryMessenger.table(2)
        self.spent = [0, 0]
        self.seconds = 0.0
        self.players = (Player(0, game.bot(0)), Player(1, game.bot(1)))
        for player in self.players:
            self.start(player)
        self._before = [self._balance(key) for key in KEYS]

    @property
    def alice(self) -> Player:
        return self.players[0]

    @property
    def bob(self) -> Player:
        return self.players[1]

    # ------------------------------------------------------------------------------------------------------- clients

    def start(self, player: Player, line: Messenger | None = None, *, bump_after: float = 60.0, **options: Any) -> None:
        """Start the player's process, or start it again with what its journal has; on the table's line or this."""

        def report(event: Event) -> None:
            if isinstance(event, Mined) and event not in player.events:  # a process that has died may repeat it
                self.charge(player.seat, event.receipt)
            player.events.append(event)

        setup = ChannelSetup(
            replace(self.assembly, from_block=self.first_block),
            KEYS[player.seat],
            line or self.lines[player.seat],
            player.choose,
            on_event=report,
            confirmations=self.confirmations,
            block_time=0,
            **options,
        )
        player.client = Process(setup, player.journal, bump_after=bump_after, clock=lambda: self.seconds)

    def play(self, *players: Player, rounds: int = 200) -> None:
        """Poll both, or these, until nothing happens any more."""
        for _ in range(rounds):
            if not [player for player in players or self.players if player.client.poll()]:
                return
        raise AssertionError("they never come to rest")

    def play_until(self, turn: int) -> None:
        """Both have the state of this turn, and the next mover keeps still."""
        for player in self.players:
            player.stops_at = turn
        self.play()
        assert [player.newest.state.turn_num for player in self.players] == [turn, turn]

    def go_on(self, *, leave_after: int = 20) -> None:
        """Nobody keeps still any more, and what is waited for is done."""
        for player in self.players:
            player.stops_at, player.is_silent, player.leave_after = None, False, leave_after
        mover = self.players[self.alice.client.channel.next_turn % 2]
        if not mover.newest.state.is_final:
            mover.decide_at_last()
        self.play()

    # ------------------------------------------------------------------------------------------- what a cheat can do

    def sign(self, state: VariablePart, *seats: int) -> SignedState:
        """A state with the signatures of these seats, whatever their clients think of it."""
        to_sign = digest(self.agreement.domain, hash_state(self.agreement.channel_id, state).state)
        return SignedState(state, {seat: KEYS[seat].sign(to_sign) for seat in seats})

    def say(self, seat: int, signed: SignedState) -> None:
        """Let the other's client hear this from that seat."""
        self.lines[seat].send(encode_message(self.agreement.channel_id, signed))
        self.players[1 - seat].client.poll()

    def proof(self, states: Sequence[SignedState]) -> SupportProof:
        proof = build_support_proof(self.agreement.fixed_part, states)
        assert proof is not None
        return proof

    def challenge(self, seat: int, *states: SignedState) -> None:
        """Straight to the chain."""
        self.send(seat, self.adjudicator.challenge(self.agreement.fixed_part, self.proof(states)))

    def opening(self) -> list[SignedState]:
        """The states of the setup, as their movers have signed them."""
        return [self.sign(self.agreement.setup_state(turn), turn % 2) for turn in range(4)]

    def send(self, seat: int, operation: Operation) -> None:
        self.charge(seat, self.adjudicator.send(operation, KEYS[seat]))

    def charge(self, seat: int, receipt: Receipt[PlacedLog]) -> None:
        self.spent[seat] += receipt.gas_used * receipt.gas_price

    # ---------------------------------------------------------------------------------------------------- the chain

    @property
    def record(self) -> tuple[int, bool]:
        """The recorded turn, and whether a clock runs."""
        status = self.adjudicator.status_of(self.agreement.channel_id, ETHER)
        return status.turn_num_record, status.finalizes_at != 0

    @property
    def finalizes_at(self) -> int:
        return self.adjudicator.status_of(self.agreement.channel_id, ETHER).finalizes_at

    @property
    def held(self) -> int:
        return self.adjudicator.holdings_of(self.agreement.channel_id, self.asset, 0).amount

    def expire(self) -> None:
        """Let the clock run out."""
        self.chain.travel_to(self.finalizes_at)

    def reorganise(self, height: int, mined: int = 0) -> None:
        """Another chain wins, which is as this one was at that height, with this many blocks after it."""
        assert isinstance(self.chain, MemoryChain)
        self.chain.node.revert_to(height)
        self.mine(mined)

    def mine(self, blocks: int = 1) -> None:
        """Blocks with nothing in them for us."""
        for _ in range(blocks):
            self.chain.send(Call(MINER.address, b"", 0), MINER)

    # ----------------------------------------------------------------------------------------------------- the money

    def _balance(self, key: Key) -> int:
        if self.asset == ETHER:
            return self.chain.balance(key.address)
        return Token(self.chain, self.asset).balance_of(key.address)

    @property
    def gains(self) -> list[int]:
        """What each has won or lost, without the price of gas."""
        gas = self.spent if self.asset == ETHER else (0, 0)
        return [self._balance(key) - self._before[i] + gas[i] for i, key in enumerate(KEYS)]

    def ends_as_agreed(self) -> None:
        """`go_on`, to what the newest state of all pays."""
        self.go_on()
        self.ends_with(self.alice.newest.state.outcome)

    def ends_with(self, outcome: Outcome) -> None:
        """The channel is closed, empty, and has paid exactly this; both know it."""
        assert [player.phase for player in self.players] == [Phase.CLOSED, Phase.CLOSED]
        assert self.gains == [entry.amount - DEPOSIT for entry in outcome]
        assert self.held == 0
