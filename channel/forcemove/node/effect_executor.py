"""Connects a client to its messenger, its player, its owner and the chain.

Where a messenger, an endpoint or one of the owner's own functions fails, no message and no effect is lost: the rest is
done, and the next step tries again. Errors are kept until they are taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from forcemove.node.client import Client
from forcemove.node.events import CounterpartyFault, Event, Sent
from forcemove.node.friendly import NullSubmitter
from forcemove.node.ports import Messenger, as_connected
from forcemove.node.tx_submitter import TxSubmitter
from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendGreeting, SendState
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.sender.transactions import ChannelTx, Reorged, TxFailed, TxOutcome
from forcemove.store.records import Evidence
from forcemove.workers.outbox import evidence_of

_AT_ONCE = 64
"""Messages of a channel that are taken in before other channels have their turn."""
_MAX_BYTES = 8 * 2**20
"""Of messages that wait. What a messenger gives beyond it is dropped, the newest first: it may lose messages, too."""
_MAX_OF_A_KIND = 10
"""Pieces of evidence of one kind that wait for a commit, as many as a journal keeps: many of one kind displace none of
another."""
MoveChooser = Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]
"""A player: returns the move after a state, the decision to conclude, or None to decide later."""


class EffectExecutor:
    """Carries out the effects of one client. `errors`: what has failed since they were last taken; `is_busy`: whether
    anything was taken in or done since `begin`."""

    def __init__(
        self,
        client: Client,
        submitter: TxSubmitter | NullSubmitter,
        messenger: Messenger,
        choose: MoveChooser,
        on_event: Callable[[Event], None],
    ) -> None:
        """Carry out the effects of one client.

        - `client`: whose effects are carried out.
        - `submitter`: where its transactions go.
        - `messenger`: carries its messages.
        - `choose`: the player.
        - `on_event`: called with each event; what it raises is kept as an error, and changes nothing else.
        """
        self.client, self.on_event = client, on_event
        self.errors: list[Exception] = []
        self._evidence: dict[str, deque[Evidence]] = {}
        self.is_busy = False
        self._submitter, self._messenger, self._choose = submitter, messenger, choose
        self._connected = as_connected(messenger)
        self._messages: deque[bytes] = deque()
        self._has_skipped = False

    def begin(self) -> None:
        """A new step begins, in which nothing was done yet."""
        self.is_busy = False

    # -------------------------------------------------------------------------------------------------- what comes in

    def receive(self) -> None:
        """Fetch messages, if all that were fetched before are taken in; else they wait at the messenger. Raises what
        the messenger raises."""
        self._has_skipped = bool(self._messages)
        if self._has_skipped:
            return
        room = _MAX_BYTES
        for message in self._messenger.receive():
            room -= len(message)
            if room < 0:
                return
            self._messages.append(message)

    @property
    def connection(self) -> tuple[str, bool] | None:
        """The address of what carries the messages, and whether there is a connection now; None where the messenger
        does not say. Raises what the messenger raises."""
        connected = self._connected
        return None if connected is None else (connected.url, connected.is_connected)

    @property
    def has_received(self) -> bool:
        """Whether there is anything to `process_messages`."""
        return bool(self._messages)

    @property
    def may_have_more(self) -> bool:
        """Whether messages are left to process, or were left at the messenger, which does not say so again."""
        return self._has_skipped or bool(self._messages)

    def process_messages(self, now: int) -> None:
        """Take in at most 64 of the messages that were received, at this block time (seconds)."""
        for _ in range(min(_AT_ONCE, len(self._messages))):
            self.is_busy = True
            self._on_message(self._messages.popleft(), now)

    def _on_message(self, message: bytes, now: int) -> None:
        try:
            self.client.on_message(message, now)
        except Exception as error:
            self.keep_error(error)
        for fault in self.client.take_faults():
            evidence = evidence_of(fault)
            self._evidence.setdefault(evidence.kind, deque(maxlen=_MAX_OF_A_KIND)).append(evidence)
            self._notify(CounterpartyFault(fault))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What counterparties have done wrong since the channel was saved, at most the newest ten of each kind."""
        return tuple(each for kind in self._evidence.values() for each in kind)

    def on_tx_outcome(self, outcome: TxOutcome) -> None:
        """Take in what became of a transaction of this channel. Its sender has sent one again whose nonce was used
        elsewhere."""
        if not isinstance(outcome.request_id, ChannelTx):
            return
        self.is_busy, submission = True, outcome.request_id.submission
        if isinstance(outcome, TxFailed | Reorged):
            self.client.on_submission_failed(submission)
        event = self._submitter.event_of(submission, outcome)
        if event is not None:
            self._notify(event)

    # --------------------------------------------------------------------------------------------------- what goes out

    def ask_player(self, now: int) -> None:
        """Ask our player the questions that are due before any other effect: the answer is saved in one commit with the
        state that it answers, and sent after it. `now`: the block time (seconds)."""
        while (question := self.client.take_question()) is not None:
            if self._is_done(question, now):
                self.is_busy = True
                self.client.done(question)

    def carry_out(self, now: int) -> None:
        """Carry out the effects that are due, of a channel that is saved. It stops after an answer of the player:
        that is to be saved before what follows from it is carried out. `now`: the block time (seconds)."""
        while not self.client.is_unsaved and (effect := self.client.take_due()) is not None:
            if self._is_done(effect, now):
                self.is_busy = True
                self.client.done(effect)

    def _is_done(self, effect: Effect, now: int) -> bool:
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
                        self.client.apply(decided, now)
                case _:
                    return self._submitter.submit(self.client.channel, effect, now)
        except Exception as error:
            self.keep_error(error)
            return isinstance(effect, SendGreeting) or (isinstance(effect, SendState) and effect.again)
        return True

    def _notify(self, event: Event) -> None:
        """Call the owner with an event; what it raises is kept."""
        try:
            self.on_event(event)
        except Exception as error:
            self.keep_error(error)

    # ------------------------------------------------------------------------------------------------------ keeping

    def on_saved(self) -> None:
        """The channel is on disk as it is now, and the evidence with it."""
        self._evidence.clear()
        self.client.on_saved()

    def keep_error(self, error: Exception) -> None:
        """Something of this channel has failed, and will be tried again."""
        self.errors.append(error)

    def take_errors(self) -> list[Exception]:
        """What has failed since the last call."""
        errors, self.errors = self.errors, []
        return errors
