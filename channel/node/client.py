"""A participant's client: the loop input -> step -> persist -> perform around the pure machine.

It works when it is polled: messages, the chain's logs and holdings at the confirmation depth, and the time become
inputs. Nothing here decides about money; `protocol.machine` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from channel.chain.adjudicator import Adjudicator, Operation, PlacedLog
from channel.chain.chain import Receipt
from channel.chain.genuine import require_genuine
from channel.chain.token import Token
from channel.errors import CounterpartyError, ForcemoveError, MalformedBytes
from channel.node.ports import Store, Transport
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
    ConcludeWanted,
    ContractsGenuine,
    HoldingsSeen,
    Input,
    LogSeen,
    MoveChosen,
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
    """The chain has refused what we asked; it is asked again after the next block if it is still due."""

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
        transport: Transport,
        store: Store,
        choose: Choose,
        *,
        report: Callable[[Event], None] = lambda _: None,
        from_block: int = 0,
        confirmations: int = 1,
    ) -> None:
        """`from_block`: where the adjudicator was deployed, or a later block before the channel's first log.
        `confirmations`: how many blocks a log must be deep to be believed; 1 is the newest block."""
        participants = agreement.fixed_part.participants
        self.channel = store.load(agreement.channel_id) or Channel(agreement, participants.index(key.address))
        self._key, self._app, self._adjudicator = key, app, adjudicator
        self._transport, self._store, self._choose, self._report = transport, store, choose, report
        self._next_block, self._confirmations = from_block, confirmations
        self._failed: list[Submission] = []

    @property
    def phase(self) -> Phase:
        """Where the channel stands now."""
        return self.channel.phase(self._adjudicator.chain.next_time())

    def poll(self) -> bool:
        """Take in what has happened, and do what follows. Returns whether anything has changed.

        Raises `NoContract` and `NotGenuine` before anything is signed, and `ChainError` when the chain is out of reach;
        polling again goes on.
        """
        before = self.channel
        if not self.channel.genuine:
            self._check_contracts()
        self._look_at_chain()  # first: a message may answer what the chain has settled already
        for message in self._transport.receive():
            self._take(message)
        if self.channel == before:
            self.feed(Tick())
        return self.channel != before

    def feed(self, input_: Input) -> None:
        """Apply one input and carry out what follows from it. Raises `LocalError` and `CounterpartyError`."""
        now = self._adjudicator.chain.next_time()
        waiting = deque(self._step(input_, now))
        while waiting:
            decided = self._perform(waiting.popleft())
            if decided is not None:
                waiting.extend(self._step(decided, now))

    def _step(self, input_: Input, now: int) -> tuple[Effect, ...]:
        channel, effects = step(self.channel, input_, now, self._key, self._app)
        if channel != self.channel:
            self._store.save(channel)  # before any effect: persist, then send
            self.channel = channel
        return effects

    # -------------------------------------------------------------------------------------------------- what comes in

    def _check_contracts(self) -> None:
        app_definition = self.channel.agreement.fixed_part.app_definition
        require_genuine(self._adjudicator.chain, self._adjudicator.address, app_definition, self._app.contract)
        self.feed(ContractsGenuine())

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

    def _look_at_chain(self) -> None:
        last = self._adjudicator.chain.block_number() - self._confirmations + 1
        if last < self._next_block:
            return
        id_ = self.channel.agreement.channel_id
        for placed in self._adjudicator.logs(id_, self._next_block, last):
            self.feed(LogSeen(placed.log))
        for asset, _ in self.channel.agreement.deposits:
            held = self._adjudicator.holdings_of(id_, asset, block=last).held
            if held != self.channel.held(asset):
                self.feed(HoldingsSeen(asset, held))
        self._next_block = last + 1
        failed, self._failed = self._failed, []
        for submission in failed:
            self.feed(SubmissionFailed(submission))

    # --------------------------------------------------------------------------------------------------- what goes out

    def _perform(self, effect: Effect) -> Input | None:
        match effect:
            case SendState(signed):
                self._transport.send(encode_message(self.channel.agreement.channel_id, signed))
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
            receipt = self._adjudicator.send(self._operation(submission), self._key)
        except ForcemoveError as error:
            self._failed.append(submission)
            self._report(Refused(submission, error))
        else:
            self._report(Mined(submission, receipt))

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
