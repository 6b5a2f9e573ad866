"""Three players of `DealApp` in one channel on a chain, each a node over a journal of its own; messages to any of them
can be withheld."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from forcemove import AddressBook, Assembly, Chain, Channel, ChannelSetup, ChooseMove, MemoryMessenger, Phase, assemble
from forcemove.chain.local import deploy_locally, local_keys
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, SupportProof
from forcemove.store.journal import Journal
from tests.games.cards.dealt import stream
from tests.games.three.deal_app import PLAYERS, DealApp
from tests.games.three.deal_player import DealPlayer
from tests.process import Process, memory_journal

__all__ = ["DEPOSIT", "OPENED", "DealTable", "Participant", "Trio"]

DEPOSIT = 10**17
OPENED = 2 * PLAYERS - 1
"""The turn of the last state of the setup."""
KEYS = local_keys()[:PLAYERS]
_DURATION = 3_600
_nonces = count(1)


class _Line(MemoryMessenger):
    """`is_cut`: nothing arrives, and what is sent meanwhile is lost."""

    is_cut = False

    def take(self, message: bytes) -> None:
        if not self.is_cut:
            super().take(message)


def _lines() -> Iterator[_Line]:
    return (line for line in _Line.table(PLAYERS) if isinstance(line, _Line))


@dataclass
class Participant:
    """One of the three. `stops_at`: it makes no move after a state of this turn or a later one. `questions`: all that
    it was asked."""

    player: DealPlayer
    line: _Line
    stops_at: int = OPENED
    questions: list[ChooseMove] = field(default_factory=list)
    journal: Journal = field(default_factory=memory_journal)
    process: Process = field(init=False)

    @property
    def seat(self) -> int:
        return self.player.seat

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        self.questions.append(question)
        return None if question.state.turn_num >= self.stops_at else self.player.choose(question)

    def go_on(self) -> None:
        """Make the move that was kept back."""
        self.process.feed(self.player.choose(self.questions[-1]))

    @property
    def channel(self) -> Channel:
        return self.process.channel

    @property
    def phase(self) -> Phase:
        return self.process.phase

    @property
    def turn_num(self) -> int:
        return self.channel.next_turn - 1

    @property
    def newest(self) -> SignedState:
        return self.channel.signed_states[-1]


@dataclass(frozen=True)
class DealTable:
    """A chain with the adjudicator and `DealApp`, for as many channels as a test wants."""

    chain: Chain
    book: AddressBook

    @classmethod
    def on(cls, chain: Chain) -> DealTable:
        return cls(chain, deploy_locally(chain, [DealApp()]))

    def trio(self) -> Trio:
        addresses = [key.address for key in KEYS]
        nonce = next(_nonces)
        assembly = assemble(
            self.chain, self.book, DealApp(), addresses, stake=0, deposit=DEPOSIT, duration=_DURATION, nonce=nonce
        )
        id_ = assembly.agreement.channel_id
        players = (DealPlayer(seat, id_, stream(f"seat {seat} of {nonce}")) for seat in range(PLAYERS))
        return Trio(self.chain, assembly, tuple(map(Participant, players, _lines())))


class Trio:
    """One channel of the three."""

    def __init__(self, chain: Chain, assembly: Assembly, participants: tuple[Participant, ...]) -> None:
        self.chain, self.assembly, self.participants = chain, assembly, participants
        self.adjudicator, self.agreement = assembly.adjudicator, assembly.agreement
        for each in participants:
            self.start(each)

    def start(self, participant: Participant) -> None:
        """Start a process, or start it again with nothing but what its journal has."""
        key = KEYS[participant.seat]
        setup = ChannelSetup(self.assembly, key, participant.line, participant.choose, block_time=0)
        participant.process = Process(setup, participant.journal)

    def play(self, *some: Participant) -> None:
        """Poll all, or these, until nothing happens any more."""
        while [each for each in some or self.participants if each.process.poll()]:
            pass

    def play_to(self, turn_num: int, *some: Participant) -> None:
        """All, or these, have the state of this turn, and nobody makes the next move."""
        playing = some or self.participants
        for each in playing:
            each.stops_at = turn_num
        self.play(*playing)
        for each in playing:
            if each.turn_num < turn_num and each.channel.is_our_turn:
                each.go_on()
        self.play(*playing)
        assert {each.turn_num for each in playing} == {turn_num}

    def proof(self, participant: Participant) -> SupportProof:
        """Of the newest state that this one has."""
        proof = build_support_proof(self.agreement.fixed_part, participant.channel.signed_states)
        assert proof is not None
        return proof

    def others(self, third: Participant) -> Iterator[Participant]:
        return (each for each in self.participants if each is not third)
