"""A client with its owner's ends: its line, its player, those who are told, and the way to the chain.

What fails here, a line, an endpoint, the owner's own functions, costs no message and no effect: the rest is done, and
the next look tries again. What went wrong is kept in `mistakes`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import assert_never

from forcemove.chain.adjudicator import Adjudicator
from forcemove.node.client import Client
from forcemove.node.events import CounterpartyFault, Event, Mined, Sent, SubmissionRefused
from forcemove.node.policy import LOCAL_CHAINS
from forcemove.node.ports import EvidenceStore, Messenger
from forcemove.node.tx_requests import tx_request_for
from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendGreeting, SendState, Submission, SubmitChallenge
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.machine.view_differences import acts_first
from forcemove.protocol.signing import Key
from forcemove.sender.transactions import (
    ChannelTx,
    Confirmed,
    NonceUsedElsewhere,
    Reorged,
    TxFailed,
    TxOutcome,
    TxRequest,
)

__all__ = ["MoveChooser", "EffectExecutor"]

_AT_ONCE = 64
"""Messages of a channel that are taken in before others have their turn."""
_MAX_BYTES = 8 * 2**20
"""That wait; what a line gives beyond it is forgotten, the newest first: it may lose messages, too."""
_BLOCK_TIME, _LOCAL_BLOCK_TIME = 12.0, 1.0
"""Seconds from block to block on Ethereum's mainnet, and at most on a chain that people run for themselves."""
_AGAIN = 20
"""After so many times as long, what is due once more is the other's to send first again. Not sooner: what is asked for
anew at each look, since endpoints say one thing and then another, would be held back for ever."""
_BLOCKS = 1.5
"""Block times that a transaction is held back: until the other's is mined, and that block is seen."""
MoveChooser = Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]
"""A player: the move after a state, the wish to conclude, or None to say it later."""


class EffectExecutor:
    """`errors`: what has failed since they were last looked at; `is_busy`: whether anything was taken in or done."""

    def __init__(
        self,
        client: Client,
        adjudicator: Adjudicator,
        send: Callable[[TxRequest], None],
        messenger: Messenger,
        evidence: EvidenceStore,
        choose: MoveChooser,
        on_event: Callable[[Event], None],
        max_cost: int | None,
        challenger: Key | None = None,
        *,
        clock: Callable[[], float] | None = None,
        block_time: float | None = None,
    ) -> None:
        """`send`: asks for a transaction. `evidence`: keeps faults of counterparties. `max_cost`, `challenger`: see
        `orders.order`. `clock`: our own, seconds. `block_time`: seconds from block to block, by the chain unless given;
        for one and a half of them a transaction is held back that another participant is about to send
        (`views.acts_first`). Without a clock nothing is held back."""
        self.client, self.on_event, self._send = client, on_event, send
        self.errors: list[Exception] = []
        self.is_busy = False
        self._adjudicator, self._messenger, self._evidence, self._choose = adjudicator, messenger, evidence, choose
        self._max_cost, self._challenger = max_cost, challenger
        self._clock, self._block_time = clock, block_time
        self._messages: deque[bytes] = deque()
        self._held_since: dict[Submission, float] = {}
        self._has_challenged = False

    # -------------------------------------------------------------------------------------------------- what comes in

    def receive(self) -> None:
        """Fetch what has arrived, where all is taken in that was fetched before: so what a line has waits there. Raises
        what the line raises."""
        if self._messages:
            return
        room = _MAX_BYTES
        for message in self._messenger.receive():
            room -= len(message)
            if room < 0:
                return
            self._messages.append(message)

    @property
    def has_received(self) -> bool:
        """Whether there is anything to `process_messages`."""
        return bool(self._messages)

    def process_messages(self, now: Callable[[], int]) -> None:
        """Take in what was received, at most 64 messages at once. What cannot be taken in because the time is unknown
        is taken in later."""
        for _ in range(min(_AT_ONCE, len(self._messages))):
            self.is_busy = True
            self._on_message(self._messages[0], now())
            self._messages.popleft()

    def _on_message(self, message: bytes, now: int) -> None:
        try:
            self.client.on_message(message, now)
        except Exception as error:
            self.errors.append(error)
        for fault in self.client.take_faults():
            self._evidence.keep_evidence(self.client.id, fault)
            self._notify(CounterpartyFault(fault))

    def on_tx_outcome(self, outcome: TxOutcome) -> None:
        """What became of a transaction of this channel."""
        if not isinstance(outcome.request_id, ChannelTx):
            return
        self.is_busy, submission = True, outcome.request_id.submission
        match outcome:
            case Confirmed(_, receipt):
                self._notify(Mined(submission, self._adjudicator.placed(receipt)))
            case TxFailed(_, error):
                self.client.on_submission_failed(submission)
                self._notify(SubmissionRefused(submission, error))
            case Reorged():
                self.client.on_submission_failed(submission)
            case NonceUsedElsewhere():
                pass  # it is sent again
            case _:
                assert_never(outcome)

    # --------------------------------------------------------------------------------------------------- what goes out

    def ask_player(self, now: Callable[[], int]) -> None:
        """Put to our player what is asked before anything else is due: the answer is saved in one commit with what it
        answers, and sent after it."""
        while (question := self.client.take_question()) is not None:
            if self._is_done(question, now):
                self.is_busy = True
                self.client.done(question)

    def carry_out(self, now: Callable[[], int]) -> None:
        """Do what is due, of a channel that is saved. An answer of the player that comes only now, after what had to be
        sent first, ends this: it is to be saved before what follows from it is done."""
        while not self.client.is_unsaved and (effect := self.client.take_due()) is not None:
            if self._is_done(effect, now):
                self.is_busy = True
                self.client.done(effect)

    def _is_done(self, effect: Effect, now: Callable[[], int]) -> bool:
        try:
            match effect:
                case SendState(signed, again):
                    self._messenger.send(encode_message(self.client.id, signed))
                    if not again:
                        self._notify(Sent(signed))
                case SendGreeting(next_turn):
                    self._messenger.send(encode_greeting(self.client.id, self.client.channel.index, next_turn))
                case ChooseMove():
                    decided = self._choose(effect)
                    if decided is not None:
                        self.client.apply(decided, now())
                case _:
                    if self._is_held_back(effect, now()):
                        return False
                    self._send(
                        tx_request_for(self.client.channel, effect, self._adjudicator, self._max_cost, self._challenger)
                    )
                    self._has_challenged = self._has_challenged or isinstance(effect, SubmitChallenge)
        except Exception as error:
            self.errors.append(error)
            return isinstance(effect, SendGreeting) or (isinstance(effect, SendState) and effect.again)
        return True

    def _is_held_back(self, submission: Submission, now: int) -> bool:
        """Whether another participant is about to send the same, and has not had a block's time yet. By our own clock,
        not the chain's: an endpoint that makes no blocks holds back nothing that defends."""
        channel = self.client.channel
        if self._clock is None or acts_first(channel, submission, now, has_challenged=self._has_challenged):
            return False
        chain_id = channel.agreement.domain.chain_id
        usual = _LOCAL_BLOCK_TIME if chain_id in LOCAL_CHAINS else _BLOCK_TIME
        pause, seconds = _BLOCKS * (usual if self._block_time is None else self._block_time), self._clock()
        since = self._held_since.get(submission)
        if since is None or not 0 <= seconds - since < _AGAIN * pause:
            since = self._held_since[submission] = seconds
        return seconds - since < pause

    def _notify(self, event: Event) -> None:
        """What the owner makes of it undoes nothing."""
        try:
            self.on_event(event)
        except Exception as error:
            self.errors.append(error)

    def raise_errors(self) -> None:
        """The first of them; they are forgotten."""
        if self.errors:
            first = self.errors[0]
            self.errors.clear()
            raise first
