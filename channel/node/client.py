"""A participant's client: the loop input -> step -> persist -> perform around the pure machine.

It works when it is polled: messages, the chain's logs and holdings at the confirmation depth, and the time become
inputs. Nothing here decides about money; `protocol.machine` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from channel.chain.adjudicator import Adjudicator, Operation, PlacedLog
from channel.chain.chain import Receipt, SignedTransaction
from channel.chain.errors import EndpointFailed, NotMined
from channel.chain.genuine import require_genuine
from channel.chain.token import Token
from channel.errors import CounterpartyError, ForcemoveError, InvalidValue, MalformedBytes, UnexpectedTurn
from channel.node.ports import Line, Store
from channel.protocol.agreement import Agreement
from channel.protocol.app import App
from channel.protocol.channel import Channel, Phase
from channel.protocol.effects import (
    ChooseMove,
    Effect,
    SendState,
    Submission,
    SubmitChallenge,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitRespond,
    SubmitTransfer,
    WakeAt,
)
from channel.protocol.inputs import (
    ChainRead,
    ConcludeWanted,
    ContractsGenuine,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
    News,
    Reconnected,
    StateReceived,
    SubmissionFailed,
    Tick,
)
from channel.protocol.machine import step
from channel.protocol.signing import Key
from channel.protocol.state import SignedState
from channel.protocol.types import ETHER
from channel.protocol.wire import decode_message, encode_message

__all__ = ["Choose", "Client", "Event", "Fault", "Mined", "Refused", "Sent"]

Choose = Callable[[ChooseMove], MoveChosen | ConcludeWanted | None]
"""A player: the move after a state, the wish to conclude, or None to say it later with `Client.feed`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """We have signed a state and sent it."""

    signed: SignedState


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction of ours is in the chain."""

    submission: Submission
    receipt: Receipt[PlacedLog]


@dataclass(frozen=True, slots=True)
class Refused:
    """The chain has refused what we asked, or has not mined it in time; it is sent again after the next block if it is
    still due, with a higher fee."""

    submission: Submission
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class Fault:
    """A counterparty has sent what it must not."""

    error: ForcemoveError


Event = Sent | Mined | Refused | Fault
"""What a client tells its owner while it works."""


class Client:
    """One participant in one channel."""

    def __init__(
        self,
        agreement: Agreement,
        key: Key,
        app: App,
        adjudicator: Adjudicator,
        line: Line,
        store: Store,
        choose: Choose,
        *,
        report: Callable[[Event], None] = lambda _: None,
        from_block: int = 0,
        confirmations: int = 1,
        patience: float = 60.0,
    ) -> None:
        """`from_block`: where the adjudicator was deployed, or a later block before the channel's first log.
        `confirmations`: how many blocks a log must be deep to be believed; 1 is the newest block. `patience`: real
        seconds to wait for a transaction before it is sent again with a higher fee.

        Raises `InvalidValue` where key, adjudicator, or what the store remembers, do not fit the agreement.
        """
        self.channel = _remembered(store, agreement, key, adjudicator)
        self._key, self._app, self._adjudicator = key, app, adjudicator
        self._line, self._store, self._choose, self._report = line, store, choose, report
        self._from_block, self._confirmations, self._patience = from_block, confirmations, patience
        self._read_up_to: tuple[int, bytes] | None = None
        self._has_greeted = self._is_busy = False
        self._messages: deque[bytes] = deque()
        self._failed: list[Submission] = []
        self._unmined: dict[Submission, SignedTransaction] = {}
        self._mined: list[Mined] = []

    @property
    def phase(self) -> Phase:
        """Where the channel stands now."""
        return self.channel.phase(self._adjudicator.chain.next_time())

    def poll(self) -> bool:
        """Take in what has happened, and do what follows. Returns whether there was anything to take in or to do.

        Raises `NoContract` and `NotGenuine` before anything is signed, `ChainError` when the chain is out of reach, and
        what `feed` raises; polling again goes on where it stopped.
        """
        before, self._is_busy = self.channel, False
        if not self.channel.genuine:
            self._require_genuine()
        self._look_at_chain()  # first: a message may answer what the chain has settled already
        if not self._has_greeted:
            self._has_greeted = True
            self.feed(Reconnected())  # what was said before we stopped may be lost
        if not self.channel.genuine and self._read_up_to is not None:
            self.feed(ContractsGenuine())
        self._messages.extend(self._line.receive())
        while self._messages:
            self._is_busy = True
            self._take(self._messages.popleft())
        if self.channel == before:
            self.feed(Tick())
        return self._is_busy or self.channel != before

    def feed(self, input_: Input) -> None:
        """Apply one input and carry out what follows from it.

        Raises `LocalError` and `CounterpartyError`; and, once all the rest is carried out, what was wrong with a move
        that the player chose.
        """
        now = self._adjudicator.chain.next_time()
        self._carry_out(self._step(input_, now), now)

    def _carry_out(self, effects: Iterable[Effect], now: int) -> None:
        waiting = deque(effects)
        self._is_busy = self._is_busy or bool(waiting)
        mistake: ForcemoveError | None = None
        while waiting:
            try:
                decided = self._perform(waiting.popleft())
                waiting.extend(self._step(decided, now) if decided else ())
            except ForcemoveError as error:
                mistake = mistake or error
        if mistake is not None:
            raise mistake

    def _step(self, input_: Input, now: int) -> tuple[Effect, ...]:
        channel, effects = step(self.channel, input_, now, self._key, self._app)
        if channel != self.channel:
            self._store.save(channel)  # before any effect: persist, then send
            self.channel = channel
        return effects

    # -------------------------------------------------------------------------------------------------- what comes in

    def _require_genuine(self) -> None:
        app_definition = self.channel.agreement.fixed_part.app_definition
        require_genuine(self._adjudicator.chain, self._adjudicator.address, app_definition, self._app.contract)

    def _take(self, message: bytes) -> None:
        id_ = self.channel.agreement.channel_id
        try:
            channel_id, signed = decode_message(message)
            if channel_id != id_:
                raise MalformedBytes("message", "it is of another channel")
            self.feed(StateReceived(signed))
        except (MalformedBytes, CounterpartyError) as error:
            self._store.keep_evidence(id_, error)
            self._report(Fault(error))
            if _is_early(error):
                self.feed(Reconnected())  # we have missed something: say where we are

    def _look_at_chain(self) -> None:
        """Read what is new at the confirmation depth; everything, after a restart or a reorganisation."""
        chain, known = self._adjudicator.chain, self._read_up_to
        last = chain.block_number() - self._confirmations + 1
        anew = known is None or self._block_hash(known[0]) != known[1]
        first = self._from_block if anew or known is None else known[0] + 1
        if last < first:
            return
        block_hash = chain.block_hash(last)  # before the logs: should the block go, the next look finds out
        news = (*self._failures(last), *self._new_logs(first, last), *self._new_holdings(last, anew))
        now = chain.next_time()
        effects = self._step(ChainRead(news, anew), now) if news or anew else ()
        self._read_up_to = last, block_hash
        self._failed.clear()
        self._carry_out(effects, now)

    def _block_hash(self, number: int) -> bytes | None:
        try:
            return self._adjudicator.chain.block_hash(number)
        except EndpointFailed:
            return None  # a shorter chain has won

    def _failures(self, last: int) -> list[News]:
        """What was refused, and what was mined in a block that is no longer there."""
        looked_at = [mined for mined in self._mined if mined.receipt.block_number <= last]
        self._mined = [mined for mined in self._mined if mined.receipt.block_number > last]
        lost = (each for each in looked_at if self._block_hash(each.receipt.block_number) != each.receipt.block_hash)
        return [SubmissionFailed(each) for each in (*self._failed, *(mined.submission for mined in lost))]

    def _new_logs(self, first: int, last: int) -> list[News]:
        placed = self._adjudicator.logs(self.channel.agreement.channel_id, first, last)
        return [LogSeen(each.log) for each in placed]

    def _new_holdings(self, block: int, anew: bool) -> list[News]:
        id_, assets = self.channel.agreement.channel_id, [asset for asset, _ in self.channel.agreement.deposits]
        held = {asset: self._adjudicator.holdings_of(id_, asset, block=block).held for asset in assets}
        return [HoldingsSeen(asset, held[asset]) for asset in assets if anew or held[asset] != self.channel.held(asset)]

    # --------------------------------------------------------------------------------------------------- what goes out

    def _perform(self, effect: Effect) -> Input | None:
        match effect:
            case SendState(signed):
                self._line.send(encode_message(self.channel.agreement.channel_id, signed))
                self._report(Sent(signed))
            case ChooseMove():
                return self._choose(effect)
            case WakeAt():
                pass  # every poll without news is a Tick
            case _:
                self._submit(effect)
        return None

    def _submit(self, submission: Submission) -> None:
        try:
            self._allow(submission)
            receipt = self._send(submission)
        except ForcemoveError as error:
            self._failed.append(submission)
            self._report(Refused(submission, error))
        else:
            mined = Mined(submission, receipt)
            self._mined.append(mined)
            self._report(mined)

    def _send(self, submission: Submission) -> Receipt[PlacedLog]:
        """Send it and wait a while; where it waits since an earlier time, replace it by one with a higher fee."""
        adjudicator, waiting = self._adjudicator, self._unmined.pop(submission, None)
        if waiting is None:
            waiting = adjudicator.sign(self._operation(submission), self._key)
            adjudicator.chain.broadcast(waiting)
        else:
            try:
                return adjudicator.wait(waiting, timeout=0)
            except NotMined:
                waiting = adjudicator.resend(waiting, self._key)
        try:
            return adjudicator.wait(waiting, timeout=self._patience)
        except NotMined:
            self._unmined[submission] = waiting
            raise

    def _allow(self, submission: Submission) -> None:
        """Let the adjudicator take the tokens that it is about to pull in."""
        if not isinstance(submission, SubmitDeposit) or submission.asset == ETHER:
            return
        token = Token(self._adjudicator.chain, submission.asset)
        if token.allowance(self._key.address, self._adjudicator.address) < submission.amount:
            self._adjudicator.chain.send(token.approve(self._adjudicator.address, submission.amount), self._key)

    def _operation(self, submission: Submission) -> Operation:
        adjudicator, agreement = self._adjudicator, self.channel.agreement
        id_, fixed_part = agreement.channel_id, agreement.fixed_part
        match submission:
            case SubmitDeposit(asset, expected_held, amount):
                return adjudicator.deposit(id_, asset, expected_held, amount)
            case SubmitChallenge(proof):
                return adjudicator.challenge(fixed_part, proof)
            case SubmitRespond(challenged, response, signature):
                return adjudicator.respond(fixed_part, challenged, response, signature)
            case SubmitCheckpoint(proof):
                return adjudicator.checkpoint(fixed_part, proof)
            case SubmitConclude(outcome, turn_num, signatures):
                return adjudicator.conclude(fixed_part, outcome, turn_num, signatures)
            case SubmitTransfer(state_hash, outcome):
                return adjudicator.transfer(id_, state_hash, outcome, ())
            case _:
                assert_never(submission)


def _is_early(error: ForcemoveError) -> bool:
    reason = error.reason if isinstance(error, CounterpartyError) else error
    return isinstance(reason, UnexpectedTurn) and reason.received > reason.expected


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
