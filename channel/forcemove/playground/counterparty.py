"""Bob: the game's bot, who plays fair until a button says otherwise."""

from __future__ import annotations

from collections.abc import Callable

from forcemove.arena.network import MemoryMessenger
from forcemove.arena.participant import LocalParticipant
from forcemove.arena.tricks import forged_message, illegal_move, old_proof
from forcemove.chain.adjudicator import Adjudicator
from forcemove.errors import ForcemoveError
from forcemove.flow.channel import Choose
from forcemove.game import Game, Level
from forcemove.node.events import Event, Received, Sent
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.effects import ChooseMove, SubmitChallenge
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen, Reconnected
from forcemove.protocol.types import SignedState, SupportProof
from forcemove.protocol.words import Status
from forcemove.sessions.playing.counted_bot import choose_rounds

LATE = 15.0
"""Seconds that Bob takes for a move when he answers late."""
_ROUNDS = 1000
"""Rounds after which Bob leaves: more than a person plays."""
_SEAT, _TWO = 1, 2


class Counterparty:
    """Bob's temper in one game. `is_silent`: he does nothing, and his messages wait; `is_late`: he takes his time for
    each move; `will_cheat`: his next move comes after an illegal one; `will_withhold`: he tells his next move to the
    chain alone."""

    def __init__(
        self,
        player: LocalParticipant,
        adjudicator: Adjudicator,
        end: MemoryMessenger,
        game: Game,
        level: Callable[[], Level],
        status: Callable[[], Status],
        clock: Callable[[], float],
    ) -> None:
        """Let Bob play fair.

        - `player`: his process.
        - `adjudicator`: through his endpoint.
        - `end`: his messenger.
        - `game`: the game that is played.
        - `level`: how well he plays, asked before each of his moves.
        - `status`: the channel's, by the chain itself.
        - `clock`: seconds that go on steadily.
        """
        self.is_silent = self.is_late = self.will_cheat = self.will_withhold = False
        self._player, self._adjudicator, self._end, self._game, self._clock = player, adjudicator, end, game, clock
        self._level = level
        self._choose: Choose = choose_rounds(game, _SEAT, _ROUNDS, level=level)
        self._status = status
        self._late: tuple[ChooseMove, float] | None = None
        self._signed: dict[int, SignedState] = {}
        self._withheld: int | None = None
        self._old_turn: int | None = None
        self._tricks = 0

    # -------------------------------------------------------------------------------------------------------- playing

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """Bob's answer; None where it comes later."""
        if self.is_late and question.answer_by is None:
            self._late = (question, self._clock() + LATE)
            return None
        return self._decide(question)

    def _decide(self, question: ChooseMove) -> MoveChosen | ConcludeWanted:
        self._late = None
        if self.will_cheat:
            self.will_cheat = False
            self._send_illegal(question)
        decided = self._choose(question)
        if self.will_withhold and isinstance(decided, MoveChosen):
            self.will_withhold, self._withheld = False, question.state.turn_num + 1
            self._end.is_withholding = True
        return decided

    def on_event(self, event: Event) -> None:
        """Remember each signed state: a cheat keeps the old ones."""
        if isinstance(event, Sent | Received):
            state = event.signed.state
            known = self._signed.get(state.turn_num)
            if known is None or known.state == state:
                self._signed[state.turn_num] = event.signed

    def poll(self) -> bool:
        """Let Bob do what he does now; returns whether anything has happened."""
        if not self.is_driven:
            return False
        self._answer_late()
        is_busy = self._player.poll()
        return self._challenge_with_withheld() or is_busy

    @property
    def is_driven(self) -> bool:
        """Whether Bob's process does anything now. While a challenge of his with an old state runs it does not: it
        would answer by itself."""
        if self.is_silent or self._player.is_gone:
            return False
        if self._old_turn is None:
            return True
        status, now = self._status(), self._adjudicator.chain.next_time()
        if status.finalizes_at > now and status.turn_num_record == self._old_turn:
            return False
        self._old_turn = None
        return True

    @property
    def next_due(self) -> float | None:
        """When Bob's late answer comes, by the clock; None where none is to come."""
        return None if self._late is None else self._late[1]

    def _answer_late(self) -> None:
        if self._late is None or (self.is_late and self._clock() < self._late[1]):
            return
        question, managed = self._late[0], self._player.managed
        self._late = None
        if managed.channel.is_our_turn_after(question.state) and not managed.channel.leaving:
            self._feed(self._decide(question))

    def _challenge_with_withheld(self) -> bool:
        """Challenge with the move that was withheld, once it is signed. Returns whether that was done now."""
        channel, managed = self._player.managed.channel, self._player.managed
        if self._withheld is None:
            return False
        is_shown = channel.status.finalizes_at or channel.status.turn_num_record >= self._withheld
        if is_shown or managed.phase not in (Phase.PLAYING, Phase.CHALLENGED):
            self._withheld, self._end.is_withholding = None, False
            return True
        has_asked = any(isinstance(each, SubmitChallenge) for each in channel.requested)
        if channel.next_turn <= self._withheld or managed.phase is not Phase.PLAYING or has_asked:
            return False
        return self._feed(ChallengeWanted())

    def _feed(self, input_: MoveChosen | ConcludeWanted | ChallengeWanted | Reconnected) -> bool:
        """Give Bob's client an input; whether it took it. A chain that has decided meanwhile may be in the way."""
        try:
            self._player.managed.feed(input_)
        except ForcemoveError:
            return False
        return True

    # -------------------------------------------------------------------------------------------------------- cheating

    def come_back(self) -> None:
        """Be there again, with what the journal has."""
        self.is_silent = False
        if self._player.is_gone:
            self._late = None
            self._choose = choose_rounds(self._game, _SEAT, _ROUNDS, level=self._level)
            self._player.restart()
            self._end.is_gone = False
        self.greet()

    def vanish(self) -> None:
        """End Bob's process: what is sent to him is lost."""
        self._player.die()
        self._end.leave()

    def play_fair(self) -> None:
        """Have no tricks in mind any more."""
        self.is_late = self.will_cheat = self.will_withhold = False
        if self._withheld is not None:
            self._withheld, self._end.is_withholding = None, False
            self.greet()

    def greet(self) -> None:
        """Ask whether a message was lost."""
        if not self._player.is_gone:
            self._feed(Reconnected())

    def _send_illegal(self, question: ChooseMove) -> None:
        agreement = self._player.managed.channel.agreement
        found = illegal_move(self._game, agreement, self._player.key, question.state, self._tricks)
        self._tricks += 1
        if found is not None:
            self._end.inject(found[1])

    def forge(self) -> None:
        """Send a final state that pays everything to Bob, with the other's signature made up."""
        channel = self._player.managed.channel
        if channel.newest is not None:
            self._end.inject(forged_message(channel.agreement, _SEAT, self._player.key, channel.newest.state))

    @property
    def old_proof(self) -> SupportProof | None:
        """The old state that pays Bob most, None where there is none that the chain would take."""
        channel = self._player.managed.channel
        status = self._status()
        above = -1 if status.is_empty else status.turn_num_record
        return old_proof(channel.agreement, self._signed, above, channel.next_turn - 1, _SEAT)

    def show_old_state(self) -> None:
        """Challenge with an old state. Raises as `Adjudicator.send`."""
        proof, player = self.old_proof, self._player
        if proof is None:
            return
        adjudicator = self._adjudicator
        adjudicator.send(adjudicator.challenge(player.managed.channel.agreement.fixed_part, proof), player.key)
        self._old_turn = proof.states[-1].turn_num
