"""One participant in one channel, without I/O: a client takes in inputs, and says what is to be saved and done.

Its driver gives it chain updates, messages, the player's decisions and the time, saves its channel, and only then
carries out the effects that are due: persist, then send. Nothing here decides about money; `protocol.machine` does. An
effect that could not be carried out stays due. A client never waits, and reads neither clock nor chain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable

from msgspec import UNSET
from msgspec.structs import replace

from forcemove.errors import CounterpartyError, ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion
from forcemove.node.resync import ResyncTimer
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.app import Rules
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendGreeting, SendState, Submission, SubmitChallenge
from forcemove.protocol.machine.inputs import (
    ChainUpdate,
    ContractsGenuine,
    Greeted,
    Input,
    Reconnected,
    SubmissionFailed,
    ViewsDiffer,
)
from forcemove.protocol.machine.machine import step
from forcemove.protocol.signing import Key
from forcemove.protocol.types import VariablePart

_UNCERTAIN = (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING, Phase.CONCLUDING, Phase.FINALIZED)


class Client:
    """One participant in one channel. `id`: the channel's; `channel`: as it is now; `is_unsaved`: whether the channel
    must be saved before anything is carried out; `has_read_chain`: whether a chain update was taken in, or how
    endpoints contradict each other."""

    def __init__(
        self,
        channel: Channel,
        key: Key | None,
        app: Rules,
        *,
        silence: float = 5.0,
        on_step: Callable[[Channel, Channel, Input], None] = lambda *_: None,
    ) -> None:
        """Drive one channel.

        - `channel`: as it is now.
        - `key`: the participant's, None where nothing is to be signed.
        - `app`: the rules of the game.
        - `silence`: seconds to wait for a counterparty's message before we ask whether one was lost.
        - `on_step`: called with the channel before and after each input, and the input. It must not raise.
        """
        self.id = channel.agreement.channel_id
        self.channel, self._key, self._app, self._on_step = _as_started(channel), key, app, on_step
        self._remembered = self.channel.requested
        self.is_unsaved = False
        self._seconds, self._time = 0.0, 0
        self._resync = ResyncTimer(lambda: self._seconds, silence)
        self._has_looked = self.has_read_chain = self._has_resynced = False
        self._due: deque[Effect] = deque()
        self._in_progress: deque[Effect] = deque()
        self._failed: list[Submission] = []
        self._faults: list[ForcemoveError] = []

    @property
    def phase(self) -> Phase:
        """The channel's phase at the block time that was given last; before any was given, at time 0, when no deadline
        has passed."""
        return self.channel.phase(self._time)

    @property
    def is_uncertain(self) -> bool:
        """Whether money is to come or go, so that what the channel holds is to be read even where nothing is logged."""
        return self.phase in _UNCERTAIN

    @property
    def has_failures(self) -> bool:
        """Whether a submission has failed that the channel is to hear of with the next block."""
        return bool(self._failed)

    # -------------------------------------------------------------------------------------------------- what comes in

    def wake(self, seconds: float) -> None:
        """Begin a new step at this time of our own clock (seconds): effects that could not be carried out are due
        again."""
        self._seconds = seconds
        if self._in_progress:
            self._due, self._in_progress = deque((*self._in_progress, *self._due)), deque()

    def apply(self, input_: Input, now: int) -> None:
        """Take in one input at block time `now` (seconds). Raises as `machine.step`; then nothing has changed."""
        self._time = now
        channel, effects = step(self.channel, input_, now, self._key, self._app)
        # What endpoints do not agree on is not stored.
        before = replace(self.channel, views=channel.views) if isinstance(input_, ViewsDiffer) else self.channel
        self.is_unsaved = self.is_unsaved or channel != before
        before, self.channel = self.channel, channel
        self._on_step(before, channel, input_)
        waiting = (*self._in_progress, *self._due)  # they can wait for long, where the channel cannot be saved
        self._due.extend([effect for effect in effects if effect not in waiting])

    def on_chain_update(
        self, update: ChainUpdate | None, now: int, *, is_new_block: bool, differences: ViewsDiffer | None = None
    ) -> None:
        """Take in a chain update, the `differences` between endpoints, and, at a new block, the submissions that have
        failed: those are asked for again if they are still due. Raises as `apply`; then the chain is to be read again,
        from the beginning."""
        failed = tuple(map(SubmissionFailed, self._failed)) if is_new_block else ()
        changes, from_scratch = (update.changes, update.from_scratch) if update else ((), False)
        if (update is not None or differences is not None) and not self.has_read_chain:
            self.has_read_chain = True
            self._reset_requests()
        if differences is not None and differences.is_denied:
            self.apply(differences, now)  # before anything that follows from the rest
        if update is not None or failed:
            self.apply(ChainUpdate((*failed, *changes), from_scratch), now)
        if differences is not None and not differences.is_denied:
            self.apply(differences, now)  # after it, so that nothing follows from what was
        self._failed = [] if failed else self._failed
        self._has_looked = self._has_looked or update is not None
        self._resync_after_start(now)

    def _reset_requests(self) -> None:
        """What was asked for by a process that may have died with it is not asked for any more."""
        new = tuple(each for each in self.channel.requested if each not in self._remembered)
        self.channel = replace(self.channel, asked=None, requested=new)

    def on_submission_failed(self, submission: Submission) -> None:
        """The transaction for this submission has failed, or a reorganisation has removed it."""
        self._failed.append(submission)

    def on_contracts_genuine(self, now: int) -> None:
        """The channel's contracts are genuine. This counts only after a chain update: nothing is signed before one."""
        if self._has_looked and not self.channel.genuine:
            self.apply(ContractsGenuine(), now)

    def on_message(self, message: bytes, now: int) -> None:
        """Take in one message. A counterparty's fault is kept for `take_faults`. Raises what a game raises; such a
        message is not taken in again."""
        try:
            self._on_message(message, now)
        except (MalformedBytes, UnknownVersion, CounterpartyError) as error:
            self._faults.append(_bare(error))

    def _on_message(self, message: bytes, now: int) -> None:
        channel_id, said = decode_message(message)
        if channel_id != self.id:
            raise MalformedBytes("message", "it is of another channel")
        if not isinstance(said, Greeted) or self._resync.may_answer(said.sender):
            self.apply(said, now)

    def _resync_after_start(self, now: int) -> None:
        """Greet once after a start: messages from before it may be lost."""
        if not self._has_resynced and self.channel.newest is not None:
            self.apply(Reconnected(), now)
        self._has_resynced = True

    def resync_after_silence(self, seconds: float, now: int) -> None:
        """Greet where we have waited long for a message: it may be lost, or our message that it would answer.
        `seconds`: the time of our own clock."""
        self._seconds = seconds
        if self._resync.is_silent(self._waiting_for):
            self.apply(Reconnected(), now)

    def silent_at(self, seconds: float) -> float | None:
        """When we shall have waited long for a message, by our own clock (seconds), whose time is `seconds` now; None
        where we wait for none."""
        self._seconds = seconds
        return self._resync.silent_at(self._waiting_for)

    @property
    def _waiting_for(self) -> Hashable:
        """What we are waiting for, None where it is not a message."""
        channel, newest = self.channel, self.channel.newest
        progress = (channel.next_turn, len(newest.signed.signatures) if newest else 0)
        return progress if channel.waits_for_message(self._time) else None

    # --------------------------------------------------------------------------------------------------- what goes out

    def require_save(self) -> None:
        """Have the channel saved though nothing has changed."""
        self.is_unsaved = True

    def on_saved(self) -> None:
        """The channel is on disk as it is now."""
        self.is_unsaved = False

    @property
    def has_due(self) -> bool:
        """Whether an effect is to be carried out, once the channel is saved."""
        return bool(self._due)

    @property
    def has_work(self) -> bool:
        """Whether the channel is to be saved, or an effect is due or will be due again after the next `wake`."""
        return self.is_unsaved or bool(self._due) or bool(self._in_progress)

    def take_due(self) -> Effect | None:
        """The next effect to carry out, or None. Until `done` is called with it, it is due again after the next
        `wake`."""
        while self._due:
            effect = self._due.popleft()
            if self._is_wanted(effect):
                self._in_progress.append(effect)
                return effect
        return None

    def take_question(self) -> ChooseMove | None:
        """The next effect to carry out, if it is a question to our player: since nobody else gets it, it may be asked
        before the channel is saved, and the answer saved with it. Otherwise as `take_due`."""
        while self._due and isinstance(question := self._due[0], ChooseMove):
            self._due.popleft()
            if self._is_wanted(question):
                self._in_progress.append(question)
                return question
        return None

    def done(self, effect: Effect) -> None:
        """This effect was carried out, or is not to be tried again."""
        self._in_progress.remove(effect)

    def take_faults(self) -> list[ForcemoveError]:
        """The faults of messages that counterparties have sent, since the last call."""
        faults, self._faults = self._faults, []
        return faults

    def _is_wanted(self, effect: Effect) -> bool:
        match effect:
            case SendState():
                return True
            case SendGreeting():
                return self._resync.may_greet()
            case ChooseMove(state):
                return self._is_open_question(state)
            case _:
                return effect in self.channel.requested  # the channel may not ask for it any more

    def _is_open_question(self, state: VariablePart) -> bool:
        """Whether our move after this state is still to be made: a player that has failed is asked again, perhaps too
        late."""
        may_move = self.phase in (Phase.PLAYING, Phase.CHALLENGED) and not self.channel.leaving
        return may_move and self.channel.is_our_turn_after(state)


def begin_or_resume(remembered: Channel | None, agreement: Agreement, key: Key) -> Channel:
    """The remembered channel, or a new one. Raises `InvalidValue` where the key, or the remembered channel, does not
    fit the agreement."""
    participants = agreement.fixed_part.participants
    if key.address not in participants:
        raise InvalidValue("key", key.address, "that of a participant")
    channel = remembered or Channel(agreement, participants.index(key.address))
    if channel.agreement != agreement or participants[channel.index] != key.address:
        raise InvalidValue("agreement", agreement.channel_id, "what the store remembers under this id")
    return channel


def _as_started(channel: Channel) -> Channel:
    """Whether to challenge is the player's to decide anew: a challenge that a process has asked for, and may not have
    sent, keeps none from being asked for again. And what the chain shows may have changed since it was saved."""
    requested = tuple(each for each in channel.requested if not isinstance(each, SubmitChallenge))
    views = ViewsDiffer(is_denied=True) if channel.views is UNSET else channel.views
    return replace(channel, requested=requested, views=views)


def _bare(error: ForcemoveError) -> ForcemoveError:
    """The error without traceback and causes, which would keep every frame, and all that it refers to, in memory for as
    long as the error is kept as evidence."""
    reason = error.reason if isinstance(error, MessageRefused) else error
    for each in (error, reason):
        if isinstance(each, ForcemoveError):
            each.__traceback__ = each.__cause__ = each.__context__ = None
    return error
