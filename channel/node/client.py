"""A participant's client: the loop input -> step -> persist -> perform around the pure machine.

It works when it is polled: messages, the chain's logs and holdings at the confirmation depth, and the time become
inputs. Nothing here decides about money; `protocol.machine` does. Whatever fails on the way, a line, an endpoint, the
owner's own functions, costs no message and no effect: the rest is done, and the next poll tries again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import assert_never

from forcemove.channel.chain.adjudicator import Adjudicator
from forcemove.channel.chain.create2 import CUSTOMARY_FACTORY
from forcemove.channel.chain.errors import NotConfirmed
from forcemove.channel.chain.genuine import require_genuine
from forcemove.channel.errors import (
    CounterpartyError,
    ForcemoveError,
    InvalidValue,
    MalformedBytes,
    PassingError,
    UnknownVersion,
)
from forcemove.channel.follower.follower import Follower
from forcemove.channel.game import PlayableApp
from forcemove.channel.node.clock import seconds
from forcemove.channel.node.events import Event, Fault, Mined, Refused, Sent
from forcemove.channel.node.greetings import Greetings
from forcemove.channel.node.orders import approval, is_approval, order, submission_of
from forcemove.channel.node.ports import Line, Store
from forcemove.channel.protocol.agreement import Agreement
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.channel.protocol.effects import (
    ChooseMove,
    Effect,
    SendGreeting,
    SendState,
    Submission,
)
from forcemove.channel.protocol.errors import MessageRefused
from forcemove.channel.protocol.inputs import (
    ChainRead,
    ConcludeWanted,
    ContractsGenuine,
    Greeted,
    Input,
    MoveChosen,
    Reconnected,
    SubmissionFailed,
    Tick,
)
from forcemove.channel.protocol.machine import Step, step
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.state import VariablePart
from forcemove.channel.protocol.wire import decode_message, encode_greeting, encode_message
from forcemove.channel.sender.sender import Sender
from forcemove.channel.sender.transactions import Failed, Landed, MemoryTransactions, NonceTaken, Outcome, Undone

__all__ = ["Choose", "Client", "Event", "Fault", "Mined", "Refused", "Sent"]

_UNCERTAIN = (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING, Phase.CONCLUDING, Phase.FINALIZED)
"""When money is to come or go, and what the channel holds is read even where nothing is logged."""

Choose = Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]
"""A player: the move after a state, the wish to conclude, or None to say it later with `Client.feed`."""


class Client:
    """One participant in one channel."""

    def __init__(
        self,
        agreement: Agreement,
        key: Key,
        app: PlayableApp,
        adjudicator: Adjudicator,
        line: Line,
        store: Store,
        choose: Choose,
        *,
        report: Callable[[Event], None] = lambda _: None,
        from_block: int = 0,
        confirmations: int = 1,
        factory: bytes = CUSTOMARY_FACTORY,
        patience: float = 60.0,
        silence: float = 5.0,
        most: int | None = None,
        sender: Sender | None = None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`from_block`: where the adjudicator was deployed, or a later block before the channel's first log.
        `confirmations`: how many blocks a log, or a contract, must be deep to be believed; 1 is the newest block.
        `factory`: the one that our own address book names (20 bytes), from which the contracts' addresses must follow.
        `patience`: seconds after which a transaction that waits is offered more for. `silence`: seconds to wait for a
        counterparty's message before we ask whether one was lost, by the `clock`. `most`: what the gas of a transaction
        may cost, in wei, see `orders.order`. `sender`: of our account, where it sends for others, too, or remembers
        what it has sent; else we make one that forgets with us.

        Raises `InvalidValue` where key, adjudicator, or what the store remembers, do not fit the agreement.
        """
        self.channel = _remembered(store, agreement, key, adjudicator)
        self._key, self._app, self._adjudicator = key, app, adjudicator
        self._line, self._store, self._choose, self._report = line, store, choose, report
        self._confirmations, self._factory, self._most = confirmations, factory, most
        self._from_block, self._has_looked = from_block, False
        self._follower = Follower(adjudicator, confirmations=confirmations, clock=clock)
        self._sender = sender or Sender(
            adjudicator.chain,
            key,
            MemoryTransactions(),
            confirmations=confirmations,
            patience=patience,
            errors=adjudicator.errors,
        )
        self._failed: list[Submission] = []
        self._follow()
        self._greetings = Greetings(clock, silence)
        self._has_greeted = self._is_busy = False
        self._messages: deque[bytes] = deque()
        self._due: deque[Effect] = deque()
        self._undone: deque[Effect] = deque()
        self._mistakes: list[Exception] = []

    @property
    def phase(self) -> Phase:
        """The channel's phase at the time that the last `poll` or `feed` has read from the chain, which is not asked
        again. Before the first it is the phase at time 0: no deadline has passed."""
        return self.channel.phase(self._follower.last_time)

    def poll(self) -> bool:
        """Take in what has happened, and do what follows. Returns whether there was anything to take in or to do.

        Raises, when all that could be done is done, the first thing that went wrong: `NoContract` and `NotGenuine`
        before anything is signed, `ChainError` when the chain is out of reach, and whatever line, store and the owner's
        functions raise. Polling again goes on where it stopped.
        """
        before, self._is_busy = self.channel, False
        self._follower.expire()
        self._due, self._undone = self._undone, deque()
        self._carry_out()
        try:
            self._take_in()
            if self.channel == before:
                self._apply(Tick())
        except Exception as error:
            self._mistakes.append(error)
        self._raise_mistakes()
        return self._is_busy or self.channel != before

    def _take_in(self) -> None:
        """The chain's news, what the counterparties say, and their silence."""
        are_genuine = self.channel.genuine or self._are_contracts_genuine()
        self._look_at_chain()  # first: a message may answer what the chain has settled already
        self._greet_after_start()
        if are_genuine and not self.channel.genuine and self._has_looked:
            self._apply(ContractsGenuine())
        self._messages.extend(self._line.receive())
        while self._messages:
            self._is_busy = True
            self._take(self._messages[0])
            self._messages.popleft()
            self._carry_out()
        self._break_silence()

    def feed(self, input_: Input) -> None:
        """Apply one input and carry out what follows from it.

        Raises `LocalError` and `CounterpartyError`; and, once all the rest is carried out, what was wrong with a move
        that the player chose, or what the line or a function of the owner's has raised.
        """
        self._follower.expire()
        self._apply(input_)
        self._raise_mistakes()

    def _apply(self, input_: Input) -> None:
        self._adopt(self._step(input_, self._now()))
        self._carry_out()

    def _now(self) -> int:
        return self._follower.now()

    def _step(self, input_: Input, now: int) -> Step:
        return step(self.channel, input_, now, self._key, self._app)

    def _adopt(self, stepped: Step) -> None:
        channel, effects = stepped
        if channel != self.channel:
            self._store.save(channel)  # before any effect: persist, then send
            self.channel = channel
        self._due.extend(effect for effect in effects if effect not in self._undone)

    def _carry_out(self) -> None:
        """Do what is due. What fails is left for the next poll; the rest is done all the same."""
        while self._due:
            effect = self._due.popleft()
            self._undone.append(effect)  # until it is done, whatever cuts us off
            if self._is_done(effect):
                self._is_busy = True
                self._undone.remove(effect)

    def _is_done(self, effect: Effect) -> bool:
        try:
            if not isinstance(effect, SendState | SendGreeting | ChooseMove):
                return self._is_submitted(effect)
            decided = self._perform(effect)
            if decided is not None:
                self._adopt(self._step(decided, self._now()))
        except Exception as error:
            self._mistakes.append(error)
            return isinstance(effect, SendGreeting) or (isinstance(effect, SendState) and effect.again)
        return True

    def _raise_mistakes(self) -> None:
        """The first of them."""
        if self._mistakes:
            first = self._mistakes[0]
            self._mistakes.clear()
            raise first

    def _tell(self, event: Event) -> None:
        """What the owner makes of it undoes nothing."""
        try:
            self._report(event)
        except Exception as error:
            self._mistakes.append(error)

    # -------------------------------------------------------------------------------------------------- what comes in

    def _are_contracts_genuine(self) -> bool:
        """Whether they are known to be at the confirmation depth; while they are new, that is waited for."""
        chain, adjudicator = self._adjudicator.chain, self._adjudicator.address
        app, contract = self.channel.agreement.fixed_part.app_definition, self._app.artifact
        try:
            require_genuine(chain, adjudicator, app, contract, self._factory, confirmations=self._confirmations)
        except NotConfirmed:
            return False
        return True

    def _take(self, message: bytes) -> None:
        """One message. Where the clock or the store fails it was not taken; where a game fails it is not worth another
        look."""
        now = self._now()
        try:
            stepped = self._heard(message, now)
        except (MalformedBytes, UnknownVersion, CounterpartyError) as error:
            self._store.keep_evidence(self.channel.agreement.channel_id, _bare(error))
            self._tell(Fault(error))
        except Exception as error:
            self._mistakes.append(error)
        else:
            self._adopt(stepped)

    def _heard(self, message: bytes, now: int) -> Step:
        channel_id, said = decode_message(message)
        if channel_id != self.channel.agreement.channel_id:
            raise MalformedBytes("message", "it is of another channel")
        if isinstance(said, Greeted) and not self._greetings.may_answer(said.sender):
            return self.channel, ()
        return self._step(said, now)

    def _greet_after_start(self) -> None:
        """What was said before we stopped may be lost."""
        if not self._has_greeted and self.channel.newest is not None:
            self._apply(Reconnected())
        self._has_greeted = True

    def _break_silence(self) -> None:
        """Greet where we have waited for long: what we are waiting for may be lost, or what it would answer."""
        channel = self.channel
        newest = channel.newest
        progress = (channel.next_turn, len(newest.signed.signatures) if newest else 0)
        if self._greetings.is_silent(progress if channel.waits_for_message(self._follower.last_time) else None):
            self._apply(Reconnected())

    def _follow(self) -> None:
        channel = self.channel
        is_new = channel.last_signed is None
        self._follower.follow(channel.agreement, channel.payee, self._from_block, is_new=is_new)

    def _look_at_chain(self) -> None:
        """What is logged, what the channel holds, and what became of our transactions."""
        id_ = self.channel.agreement.channel_id
        look = self._follower.look([id_] if self.channel.phase(self._now()) in _UNCERTAIN else ())
        self._look_at_transactions(is_new=look.is_new)
        if id_ in look.wrong:
            raise look.wrong[id_]
        read = look.news.get(id_)
        failed = tuple(map(SubmissionFailed, self._failed)) if look.is_new else ()
        if read is None and not failed:
            return
        news, anew = (read.news, read.anew) if read else ((), False)
        try:
            self._adopt(self._step(ChainRead((*failed, *news), anew), self._now()))
        except BaseException:
            self._follow()  # it is told again, from the beginning
            raise
        self._has_looked = self._has_looked or anew
        self._failed = [] if failed else self._failed
        self._carry_out()

    def _look_at_transactions(self, *, is_new: bool = True) -> None:
        """What fails there is no reason not to look at the channel."""
        try:
            outcomes = self._sender.look(is_new=is_new)
        except PassingError as error:
            self._mistakes.append(error)
            return
        for outcome in outcomes:
            self._is_busy = True
            self._learn(outcome)

    def _learn(self, outcome: Outcome) -> None:
        _, submission = submission_of(outcome.purpose)
        match outcome:
            case Landed(purpose, receipt) if not is_approval(purpose):
                self._tell(Mined(submission, self._adjudicator.placed(receipt)))
            case Failed(_, error):
                self._failed.append(submission)
                self._tell(Refused(submission, error))
            case Undone():
                self._failed.append(submission)
            case Landed() | NonceTaken():
                pass  # the deposit follows; it is sent again
            case _:
                assert_never(outcome)

    # --------------------------------------------------------------------------------------------------- what goes out

    def _perform(self, effect: SendState | SendGreeting | ChooseMove) -> Input | None:
        match effect:
            case SendState(signed, again):
                self._line.send(encode_message(self.channel.agreement.channel_id, signed))
                if not again:
                    self._tell(Sent(signed))
            case SendGreeting(next_turn):
                self._greet(next_turn)
            case ChooseMove(state):
                return self._choose(effect) if self._is_open_question(state) else None
            case _:
                assert_never(effect)
        return None

    def _greet(self, next_turn: int) -> None:
        if self._greetings.may_greet():
            id_, index = self.channel.agreement.channel_id, self.channel.index
            self._line.send(encode_greeting(id_, index, next_turn))

    def _is_open_question(self, state: VariablePart) -> bool:
        """Whether our move after this state is still to be made: the player may be asked late, after it has failed."""
        channel = self.channel
        may_move = channel.phase(self._follower.last_time) in (Phase.PLAYING, Phase.CHALLENGED) and not channel.leaving
        is_newest = channel.newest is not None and channel.newest.state == state
        return may_move and is_newest and channel.is_our_turn

    def _is_submitted(self, submission: Submission) -> bool:
        """Whether the sender has it. What could not be sent before, and is not wanted any more, is dropped."""
        if submission not in self.channel.requested:
            return True
        first = approval(self.channel, submission, self._adjudicator, self._most)
        wanted = order(self.channel, submission, self._adjudicator, self._most) if first is None else first
        self._sender.want(wanted)
        for _ in range(2):  # on a chain that mines at once it is mined then
            self._look_at_transactions()
        return first is None


def _bare(error: ForcemoveError) -> ForcemoveError:
    """Without what led to it: tracebacks would keep every frame, and all that it refers to, for as long as evidence."""
    reason = error.reason if isinstance(error, MessageRefused) else error
    for each in (error, reason):
        if isinstance(each, ForcemoveError):
            each.__traceback__ = each.__cause__ = each.__context__ = None
    return error


def _remembered(store: Store, agreement: Agreement, key: Key, adjudicator: Adjudicator) -> Channel:
    """The channel as the store has it, or a new one."""
    if adjudicator.domain != agreement.domain:
        raise InvalidValue("adjudicator", adjudicator.address, "the one of the agreement")
    participants = agreement.fixed_part.participants
    if key.address not in participants:
        raise InvalidValue("key", key.address, "that of a participant")
    channel = store.load(agreement.channel_id) or Channel(agreement, participants.index(key.address))
    if channel.agreement != agreement or participants[channel.index] != key.address:
        raise InvalidValue("agreement", agreement.channel_id, "what the store remembers under this id")
    return channel
