"""One channel as it may stand between two events: what Alice has saved, what the chain has recorded, what waits, and
what Bob has learned. Alice's channel is changed by `machine.step` alone, the chain by the adjudicator's twin alone.

A world is a value; whatever happens makes another one. Here is what Alice, the chain and time do; what Bob may do is in
`bob`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from forcemove import ETHER, Agreement, App, Channel, Domain, FixedPart, Key, SignedState, VariablePart, agree
from forcemove.errors import ChainError, CounterpartyError, LocalError, RuleError
from forcemove.follower import cross_check
from forcemove.follower.cross_check import EndpointView
from forcemove.follower.on_chain_view import OnChainView
from forcemove.node import client
from forcemove.protocol.adjudication import Adjudication, Transaction
from forcemove.protocol.logs import Log
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.effects import (
    ChooseMove,
    Effect,
    SendGreeting,
    SendState,
    Submission,
    SubmitChallenge,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitRespond,
    SubmitTransfer,
)
from forcemove.protocol.machine.machine import step
from forcemove.protocol.machine.record import EMPTY_RECORD, Record, fold
from forcemove.protocol.types import Outcome, address_destination
from forcemove.protocol.words import EMPTY_STATUS
from tests.checking.remembering import RememberingKey
from tests.protocol.builders import ALICE, APP, BOB, CAROL, DOMAIN
from tests.protocol.operations import ether_with, perform

__all__ = ["DURATION", "START", "Block", "Bounds", "Game", "Mined", "Setting", "Waiting", "World"]

START = 1_000_000
"""The block time at which every world begins, seconds."""
DURATION = 1_800
"""Seconds of the challenge duration. The margin within which Alice answers by herself is a third of it."""
_KEYS = {name: RememberingKey(key.secret) for name, key in (("Alice", ALICE), ("Bob", BOB), ("Carol", CAROL))}


class Game(App, Protocol):
    """A game of which all moves can be listed."""

    def moves(self, from_: VariablePart) -> Iterable[VariablePart]:
        """All states that a move leads to; none where the game is over."""
        ...

    def before(self, state: VariablePart) -> VariablePart | None:
        """The state that a move has led from to this one; None where none has, or it is not known."""
        ...

    def keeps(self, due: VariablePart, paid: Outcome) -> bool:
        """Whether this may be paid to a player who had that state: the game's promise."""
        ...


@dataclass(frozen=True)
class Bounds:
    """What is tried.

    `players`: how many; all but Alice act as one, with all their keys. `seat`: Alice's. `transactions`: of Bob's,
    beside deposits. `crashes`: of Alice's process. `drops`: of transactions that she has sent. `reorganisations`: each
    takes one or two blocks of the last tick. `delay`: ticks that a transaction of hers may wait. `ticks`: in a
    challenge duration. `lag`: she sees a block once a tick has passed, so that nothing that she has seen is undone.
    `opening`: it begins before the prefund states. `liar`: of her two endpoints one lies, whose clock is far ahead;
    after each start either may answer first, and anything may happen meanwhile. `stops`: her process stands still, and
    begins with both anew.

    Reductions that are not exact. `eager`: she looks at the chain before anything else happens to her. Without
    `greetings`, Bob greets never. Without `strays`, he countersigns her newest state only where it is final. Without
    `all_states`, he challenges with the oldest and the two newest states that he can.
    """

    players: int = 2
    seat: int = 0
    transactions: int = 0
    crashes: int = 0
    drops: int = 0
    reorganisations: int = 0
    delay: int = 0
    ticks: int = 3
    lag: bool = False
    opening: bool = False
    liar: bool = False
    stops: int = 0
    eager: bool = True
    greetings: bool = False
    strays: bool = False
    all_states: bool = False

    @property
    def tick(self) -> int:
        """Seconds."""
        return DURATION // self.ticks

    @property
    def rereads(self) -> bool:
        """Whether anything can make her read logs again that she has read."""
        return bool(self.crashes or self.reorganisations)


class Waiting(NamedTuple):
    """A transaction of hers on its way. `age`: ticks since she sent it."""

    submission: Submission
    age: int = 0


class Block(NamedTuple):
    """What was before a block of this tick: the chain, how many logs there were, what they said, Alice's balance, what
    she had paid in; and the transaction that it took, if it was hers."""

    chain: Adjudication
    logs: int
    record: Record
    balance: int
    paid_in: int
    hers: Submission | None


class Mined(NamedTuple):
    """A transaction that was mined, whose it was, and the time of its block, seconds."""

    submission: Submission
    is_hers: bool
    now: int


class World(NamedTuple):
    """Everything between two events.

    `now`: the chain's time, seconds. `alice`: as she has saved it. `told`: whether she has looked since the last thing
    that happened on the chain, time included. `logs`: all of them. `seen`: how many of them she has read, -1 where she
    begins anew. `waiting`: her transactions in nonce order. `failed`: those of which she has not been told yet.
    `signed`: all that she has signed and sent, oldest first. `balance`: hers since the beginning, wei. `paid_in`: what
    she has paid into the channel, wei. `record`: what the logs say. `blocks`: of this tick, oldest first.

    `due`: the state whose successors alone may be settled, see `properties.with_due`. `transactions`, `crashes`,
    `drops`, `reorganisations`: how many are left. `is_void`: a reorganisation has undone what she had seen. `mined`:
    all that was mined and not undone, oldest first. `is_compared`: whether both of her endpoints have answered since
    her start and since she last stood still; always so without a liar. `stops`: how many are left.
    """

    now: int
    alice: Channel
    chain: Adjudication
    transactions: int
    crashes: int
    drops: int
    reorganisations: int
    told: bool = False
    logs: tuple[Log, ...] = ()
    seen: int = -1
    waiting: tuple[Waiting, ...] = ()
    failed: tuple[Submission, ...] = ()
    signed: tuple[SignedState, ...] = ()
    balance: int = 0
    paid_in: int = 0
    record: Record = EMPTY_RECORD
    blocks: tuple[Block, ...] = ()
    due: VariablePart | None = None
    is_void: bool = False
    mined: tuple[Mined, ...] = ()
    is_compared: bool = True
    stops: int = 0


@dataclass(frozen=True)
class Setting:
    """What stays the same in all worlds. `deposit`: wei, of each. `saves_first`: whether she saves before she does
    what she wants to. `start`: the block time at which it begins, seconds."""

    game: Game
    bounds: Bounds
    deposit: int = 1_000
    domain: Domain = DOMAIN
    app: bytes = APP
    saves_first: bool = True
    start: int = START

    @cached_property
    def agreement(self) -> Agreement:
        """Everybody's."""
        participants = tuple(each.address for each in self.keys)
        fixed_part = FixedPart(participants, 1, self.app, DURATION)
        destinations = tuple(map(address_destination, participants))
        return agree(self.domain, fixed_part, self.game, 0, ((ETHER, (self.deposit,) * self.count),), destinations)

    @property
    def count(self) -> int:
        """How many play."""
        return self.bounds.players

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """By seat."""
        return tuple(_KEYS[self.names[seat]] for seat in range(self.count))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """By seat, Alice at hers."""
        others = ["Bob", "Carol"][: self.count - 1]
        return (*others[: self.bounds.seat], "Alice", *others[self.bounds.seat :])

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Bob's seat, and those of anyone who helps him."""
        return tuple(seat for seat in range(self.count) if seat != self.bounds.seat)

    @property
    def alice(self) -> Key:
        """Her key."""
        return self.keys[self.bounds.seat]

    @property
    def bob(self) -> Key:
        """His key, with which all their transactions are sent."""
        return self.keys[self.others[0]]

    def is_theirs(self, turn_num: int) -> bool:
        """Whether it is not Alice's turn."""
        return turn_num % self.count != self.bounds.seat

    def empty_chain(self) -> Adjudication:
        """With nothing on it."""
        return Adjudication(self.domain)

    # ------------------------------------------------------------------------------------------------ what she does

    def hear(self, world: World, input_: inputs.Input) -> list[tuple[str, World]]:
        """The worlds after Alice has been given this: the one in which she has done what she wants to, and those in
        which she was killed while she did. None where it changes nothing."""
        try:
            channel, effects = step(world.alice, input_, self.time(world), self.alice, self.game)
        except (LocalError, RuleError, CounterpartyError):
            return []
        if channel == world.alice and not effects:
            return []
        return [("", self._done(world, channel, effects)), *self._killed(world, channel, effects)]

    def look(self, world: World) -> list[tuple[str, World]]:
        """The same, where she looks at the chain."""
        anew = world.seen < 0
        end = self.visible(world)
        before = world._replace(told=True, seen=end, failed=(), is_compared=True)
        news: list[inputs.ChainChange] = [inputs.SubmissionFailed(each) for each in world.failed]
        news += [inputs.LogSeen(each) for each in world.logs[max(world.seen, 0) : end]]
        read = inputs.ChainUpdate((*news, inputs.HoldingsSeen(ETHER, self._held(world))), anew)
        channel, effects = step(world.alice, read, world.now, self.alice, self.game)
        if not world.is_compared:  # what they agree on comes first, as in a client
            channel, more = step(channel, inputs.ViewsDiffer(), world.now, self.alice, self.game)
            effects += more
        return [("", self._done(before, channel, effects)), *self._killed(before, channel, effects)]

    def time(self, world: World) -> int:
        """The block time by which she judges."""
        return cross_check.combined_time([world.now] if world.is_compared else [world.now + DURATION, None])

    def answered_alone(self, world: World, *, by_liar: bool) -> list[tuple[str, World]]:
        """The same, where one of her endpoints alone has answered. The liar shows all deposits, and nothing recorded;
        the other one what there is."""
        honest = OnChainView(
            world.record, holdings=((ETHER, self._held(world)),), status=world.chain.status_of(self.id), at=1
        )
        liar = OnChainView(EMPTY_RECORD, holdings=((ETHER, self.count * self.deposit),), status=EMPTY_STATUS, at=1)
        views = [
            EndpointView("liar", liar if by_liar else None, 1, world.now + DURATION, has_answered=by_liar),
            EndpointView("honest", None if by_liar else honest, 1, world.now, has_answered=not by_liar),
        ]
        combined = cross_check.combine(views, self.time(world), was_agreed=False)
        found = self.hear(world, combined.differences)
        if combined.agreed is None or combined.agreed[0].view is None:
            return found
        shown = inputs.ChainUpdate(
            tuple(inputs.HoldingsSeen(*each) for each in combined.agreed[0].view.holdings), from_scratch=True
        )
        return [after for _, each in found or [("", world)] for after in self.hear(each, shown)]

    def stand_still(self, world: World) -> World:
        """Her process was stopped: nothing that was seen counts until both have answered again."""
        stopped = world._replace(stops=world.stops - 1, is_compared=False)
        shown = OnChainView(world.alice.record, holdings=world.alice.holdings, status=world.alice.status)
        views = [EndpointView(name, shown, 0, world.now, has_answered=False) for name in ("liar", "honest")]
        (_, after), *_ = self.hear(stopped, cross_check.combine(views, 0, was_agreed=False).differences)
        return after

    @property
    def id(self) -> bytes:
        """The channel's."""
        return self.agreement.channel_id

    def started(self, world: World) -> World:
        """Her process has begun with what it has saved."""
        fresh = world._replace(seen=-1, failed=(), told=False)
        return fresh._replace(alice=client._as_started(fresh.alice), is_compared=False) if self.bounds.liar else fresh

    def visible(self, world: World) -> int:
        """How many logs she can see."""
        return world.blocks[0].logs if self.bounds.lag and world.blocks else len(world.logs)

    def _held(self, world: World) -> int:
        chain = world.blocks[0].chain if self.bounds.lag and world.blocks else world.chain
        return chain.holdings_of(self.agreement.channel_id, ETHER).amount

    def _done(self, world: World, channel: Channel, effects: Sequence[Effect]) -> World:
        """Saved, and then all of this is done."""
        signed, waiting = world.signed, world.waiting
        for effect in effects:
            match effect:
                case SendState(each):
                    signed = _with(signed, each, channel.index)
                case SendGreeting() | ChooseMove():
                    pass
                case _:
                    waiting += (Waiting(effect),)
                    for accepted in (*channel.superseded, *channel.accepted):
                        if accepted.state in _states_of(effect):
                            signed = _with(signed, accepted.signed, channel.index)
        return world._replace(alice=channel, signed=signed, waiting=waiting)

    def _killed(self, world: World, channel: Channel, effects: Sequence[Effect]) -> list[tuple[str, World]]:
        """She was killed after she had saved, and had done the first this many of these."""
        if not world.crashes:
            return []
        dead = world._replace(crashes=world.crashes - 1)
        saved = channel if self.saves_first else world.alice
        found = []
        for number in range(len(effects) + 1):
            done = self._done(dead, channel, effects[:number])._replace(alice=saved)
            found.append((f", and is killed after {number} of {len(effects)} things", self.started(done)))
        return found

    def paying(self, before: World, after: World) -> Outcome:
        """What the state pays that was settled between these."""
        submission = after.mined[-1].submission
        assert isinstance(submission, SubmitTransfer | SubmitConclude)
        return submission.outcome

    def kill(self, world: World) -> World:
        """She is killed while she does nothing."""
        return self.started(world._replace(crashes=world.crashes - 1))

    # --------------------------------------------------------------------------------------------------- the chain

    def transact(self, world: World, submission: Submission, sender: Key) -> World | None:
        """The world after a transaction was mined in a block of its own; None where it reverts."""
        value = ether_with(submission)
        transaction = Transaction(sender.address, world.now, value)
        try:
            result = perform(world.chain, transaction, submission, self.agreement, self.game)
        except (RuleError, ChainError):
            return None
        mine = self.alice.address
        earned = sum(each.amount for each in result.payments if each.to == mine)
        paid = value if sender is self.alice else 0
        hers = submission if sender is self.alice else None
        block = Block(world.chain, len(world.logs), world.record, world.balance, world.paid_in, hers)
        return world._replace(
            chain=result.adjudication,
            logs=world.logs + result.logs,
            record=_fold_more(world.record, result.logs, self.domain, world.now),
            balance=world.balance + earned - paid,
            paid_in=world.paid_in + paid,
            blocks=(*world.blocks, block) if self.bounds.reorganisations or self.bounds.lag else (),
            told=False,
            mined=(*world.mined, Mined(submission, sender is self.alice, world.now)),
        )

    def mine_hers(self, world: World) -> World:
        """The first of her transactions is mined; where it reverts she will be told."""
        (submission, _), *rest = world.waiting
        before = world._replace(waiting=tuple(rest))
        after = self.transact(before, submission, self.alice)
        if after is not None:
            return after
        return before._replace(failed=(*world.failed, submission), told=False)

    def drop_hers(self, world: World) -> World:
        """The first of her transactions is dropped, and she will be told."""
        (submission, _), *rest = world.waiting
        return world._replace(
            waiting=tuple(rest), failed=(*world.failed, submission), told=False, drops=world.drops - 1
        )

    def undo(self, world: World, count: int) -> World:
        """The last blocks are undone, and with them all of Bob's in them; hers wait again, in their order."""
        first, undone = world.blocks[-count], world.blocks[-count:]
        again = tuple(Waiting(each.hers) for each in undone if each.hers is not None)
        was_seen = world.seen > first.logs
        return world._replace(
            chain=first.chain,
            logs=world.logs[: first.logs],
            record=first.record,
            balance=first.balance,
            paid_in=first.paid_in,
            mined=world.mined[:-count],
            blocks=world.blocks[:-count],
            waiting=again + world.waiting,
            reorganisations=world.reorganisations - 1,
            seen=-1 if was_seen else world.seen,
            told=False,
            is_void=world.is_void or was_seen,
        )

    def may_pass(self, world: World) -> bool:
        """Whether time may go on: she has looked, and none of her transactions is overdue."""
        return world.told and world.is_compared and all(each.age < self.bounds.delay for each in world.waiting)

    def pass_time(self, world: World) -> World:
        """A tick later. What is in blocks stays."""
        waiting = tuple(Waiting(each.submission, each.age + 1) for each in world.waiting)
        return world._replace(now=world.now + self.bounds.tick, told=False, waiting=waiting, blocks=())


def _states_of(submission: Submission) -> tuple[VariablePart, ...]:
    """Those of which a transaction may bear her signature, which is known once it is sent."""
    match submission:
        case SubmitChallenge(proof) | SubmitCheckpoint(proof):
            return proof.states
        case SubmitRespond(_, response):
            return (response,)
        case SubmitConclude(outcome, turn_num):
            return (VariablePart(outcome, b"", turn_num, True),)
        case _:
            return ()


def _fold_more(record: Record, logs: Sequence[Log], domain: Domain, now: int) -> Record:
    """What the logs say with these besides."""
    for each in logs:
        record = fold(record, each, domain, now)
    return record


def _with(signed: tuple[SignedState, ...], state: SignedState, index: int) -> tuple[SignedState, ...]:
    """With her signature of one more state, if it bears it."""
    if index not in state.signatures:
        return signed
    alone = SignedState(state.state, {index: state.signatures[index]})
    if any(each.state == alone.state for each in signed):
        return signed
    return tuple(sorted((*signed, alone), key=lambda each: each.state.turn_num))
