"""Drives any number of channels in one process: gathers what has happened to them, steps those that have news, commits
all of them at once, and only then performs what is due.

One follower reads the chain for all channels of an adjudicator, one sender sends for an account. What takes long, an
endpoint or a transaction, delays nothing but what needs it: `run` looks at each chain and each account in a thread of
its own. `poll` does the same work in order, for chains that answer at once. Flows that run beside `run` say what they
want (`Driven.feed`) and wait for it to be done (`Driven.catch_up`), which polls where nothing runs.

A channel and an account are leased from the journal: of two processes on one journal one drives a channel, and one
that was away for longer than its lease can commit nothing, and so sends nothing, for what another has taken over.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable

from forcemove.errors import JournalUnavailable
from forcemove.follower.views import Told
from forcemove.node.about import ABOUTS, About
from forcemove.node.assemble import Assembly
from forcemove.node.attention import Attention
from forcemove.node.client import Client, begin_or_resume
from forcemove.node.clock import seconds
from forcemove.node.crew import Crew
from forcemove.node.driven import Driven, following_of
from forcemove.node.errors import LeaseLost, NotOursToDrive
from forcemove.node.events import Event
from forcemove.node.journalled import PendingEvidence
from forcemove.node.keeping import Keeper
from forcemove.node.looking import keep_looking
from forcemove.node.orders import submission_of
from forcemove.node.performer import Choose, Performer
from forcemove.node.policy import Market, Policy, default_confirmations
from forcemove.node.ports import Line
from forcemove.node.workers import ChainWorker, Worker
from forcemove.protocol.duties import next_due
from forcemove.protocol.inputs import Tick
from forcemove.protocol.signing import Key
from forcemove.protocol.values import CHANNELS
from forcemove.store.journal import Journal
from forcemove.store.records import Account, ChannelLease, Standing

__all__ = ["Node"]

_LEASE = 60.0
_SILENCE_EVERY = 1.0
_POLICY = Policy()


class Node:
    """`channels`: those that it drives, by id."""

    def __init__(
        self,
        journal: Journal,
        *,
        lease: float = _LEASE,
        patience: float = 60.0,
        policy: Policy | None = _POLICY,
        trouble: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        """`lease`: for how long, in seconds, a channel is ours if we fall silent. `patience`: seconds after which a
        transaction that waits is offered more for. `policy`: what a channel must be to be begun, None where
        anything may. `trouble`: is told of
        what fails and will be tried again. `clock`: seconds."""
        self.channels: dict[bytes, Driven] = {}
        self._journal = journal
        self._policy, self._trouble, self._clock = policy, trouble, clock
        self._market, self._keeper = Market(clock), Keeper(journal, lease, clock)
        self._attention = Attention(self.wake, clock)
        self._crew = Crew(journal, self._keeper, patience, clock)
        self._failing: set[bytes] = set()
        self._awake, self._stepped = asyncio.Event(), asyncio.Event()
        self._is_running = False

    def add(
        self,
        assembly: Assembly,
        key: Key,
        line: Line,
        choose: Choose,
        *,
        report: Callable[[Event], None] = lambda _: None,
        confirmations: int | None = None,
        silence: float = 5.0,
        most: int | None = None,
        signs: bool = True,
        payer: Key | None = None,
    ) -> Driven:
        """Drive a channel, a new one or one that the journal remembers. Arguments as of `PolledClient`. In one that was
        imported from a backup nothing is signed; it is defended and collected with what the backup has. So is any other
        where `signs` is false. `confirmations`: by the chain unless given, see `default_confirmations`.
        `payer`: the account that sends the transactions, pays in and pays the gas, the participant's unless given.

        Raises `ChannelInUse`, `NotOursToDrive`, `InvalidValue`, `JournalError`; and of a new channel
        what the policy refuses, `NotWorthItsDisputes` and `DurationTooShort`, and `ChainError`.
        """
        adjudicator, id_ = assembly.adjudicator, assembly.agreement.channel_id
        sender = key if payer is None else payer
        account = Account(adjudicator.chain.chain_id, sender.address)
        depth = default_confirmations(account.chain_id) if confirmations is None else confirmations
        taken = self._keeper.take(id_, account)
        try:
            kept = self._journal.load(id_)
            if kept is None and self._policy is not None:
                index = begin_or_resume(None, assembly.agreement, key).index
                chains = [each.chain for each in (adjudicator, *assembly.others)]
                for conditions in self._market.conditions(chains):
                    self._policy.require(assembly.agreement, index, depth, conditions)
            elif kept is not None and kept.standing is Standing.MOVED:
                raise NotOursToDrive(id_)
            channel = begin_or_resume(CHANNELS.decode(kept.snapshot) if kept else None, assembly.agreement, key)
        except BaseException:
            self._keeper.give_back(taken)
            raise
        is_copy = kept is not None and kept.standing is Standing.BACKUP
        client = Client(channel, key if signs and not is_copy else None, assembly.app, silence=silence)
        chain = self._crew.chain(assembly, depth)
        worker, evidence = self._crew.account(account, assembly, sender, depth), PendingEvidence()
        challenger = None if sender is key else key
        performer = Performer(
            client, adjudicator, worker.want, line, evidence, choose, report, most, challenger, clock=self._clock
        )
        about = About(
            assembly.app.artifact.name,
            assembly.from_block,
            assembly.factory,
            depth,
            assembly.began,
            begun_at=int(time.time()),
        )
        driven = Driven(
            client,
            performer,
            chain,
            account,
            following_of(assembly, channel, depth, kept),
            kept.version if kept else 0,
            None if kept else ABOUTS.encode(about),
            self,
            evidence=evidence,
            reached=kept.reached if kept else b"",
        )
        chain.follow(driven.following)
        self.channels[id_] = driven
        self._attention.watch(id_, line)
        return driven

    def reserve(self, assemblies: Iterable[Assembly], key: Key) -> None:
        """Take the leases of many channels at once, which are to be added next: one commit instead of one for each.
        What another process has is refused when it is added. Raises `JournalError`."""
        chosen = list(assemblies)
        accounts = {
            Account(each.adjudicator.chain.chain_id, key.address) for each in chosen
        } - self._crew.accounts.keys()
        self._keeper.reserve([*(ChannelLease(each.agreement.channel_id) for each in chosen), *accounts])

    @property
    def is_sending(self) -> bool:
        """Whether a transaction is on its way, or is to be sent."""
        return self._crew.is_sending

    # --------------------------------------------------------------------------------------------------------- driving

    def poll(self) -> bool:
        """Look at every chain and every account, one after the other, and step. Returns whether anything has happened.
        What fails is told, and tried again by the next poll. Raises as `step`."""
        self._crew.look_now(self._trouble)
        return self.step()

    async def run(self, *, look_every: float = 1.0, listen_every: float = 0.05) -> None:
        """Drive the channels until cancelled; those that are added meanwhile, too. Seconds between two looks at a chain
        or an account, and at the lines, but for those that say when something has come. What fails is told and tried
        again, with the next endpoint at the next look; where all have failed later and later, every five seconds at
        the latest."""
        self._awake, self._stepped, self._is_running = asyncio.Event(), asyncio.Event(), True
        try:
            async with asyncio.TaskGroup() as group:
                await self._drive(group, look_every, listen_every)
        finally:
            self._is_running = False
            self._stepped.set()

    async def _drive(self, group: asyncio.TaskGroup, look_every: float, listen_every: float) -> None:
        working: set[Worker] = set()
        while True:
            for worker in set(self._crew) - working:
                working.add(worker)
                looking = keep_looking(worker, self._trouble, self.wake, every=look_every, idle=listen_every)
                group.create_task(looking)
            is_busy = self._step_or_tell()
            stepped, self._stepped = self._stepped, asyncio.Event()
            stepped.set()
            await self._pause(0 if is_busy else listen_every)

    def wake(self) -> None:
        """Let `run` step now: something has come in. Called in its thread."""
        self._awake.set()

    def stir(self, channel_id: bytes) -> None:
        """The same, for one channel."""
        self._attention.stir(channel_id)

    async def catch_up(self) -> None:
        """Return when `run` has taken in, saved and performed all that was there when this was called. Where nothing
        runs, this polls. Raises as `step`."""
        if not self._is_running:
            self.poll()
            return
        self.wake()
        await self._stepped.wait()

    async def _pause(self, seconds: float) -> None:
        """Until there is something to do, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._awake.wait()
        self._awake.clear()

    def _step_or_tell(self) -> bool:
        try:
            return self.step()
        except JournalUnavailable as error:
            self._trouble(error)
            return False

    def step(self) -> bool:
        """Take in what was found and what was said, ask the players, save it all in one commit, and perform what is
        due. Returns whether there was anything.

        Raises `JournalError` where nothing could be committed: then nothing was performed either, and the next step
        commits it.
        """
        self._renew()
        busy = self._take_in()
        while to_do := [each for each in busy if each.client.is_unsaved or each.client.has_due]:
            for each in to_do:
                each.performer.ask(each.time)
            self._commit(to_do)
            for each in to_do:
                if each.id in self.channels:
                    each.performer.carry_out(each.time)
            busy = [each for each in busy if each.id in self.channels]
        for each in busy:
            self._settle(each)
        return any(each.performer.is_busy or each.channel is not each.was for each in busy)

    def _take_in(self) -> list[Driven]:
        """Everything that has come in; returns the channels to which something has happened."""
        busy: dict[bytes, Driven] = {}
        has_news = False
        for chain in self._crew.chains.values():
            told = chain.take_in()
            has_news = has_news or told.has_looked
            for driven in self._concerned(chain, told):
                self._wake(driven, busy)
                self._attempt(driven, driven.see, told)
            if told.has_looked and chain.is_to_keep():
                self._save_quiet(chain, busy)
            for error in told.errors:
                self._trouble(error)
        for account in self._crew.accounts.values():
            outcomes, account.found = account.found, []
            troubles, account.troubles = account.troubles, []
            for error in troubles:
                self._trouble(error)
            for outcome in outcomes:
                if (of := self.channels.get(submission_of(outcome.purpose)[0])) is not None:
                    self._wake(of, busy)
                    of.performer.learn(outcome)
                    self._failing.add(of.id)
        now = self._clock()
        for driven in self._attention.take(self.channels, has_news=has_news):
            self._listen(driven, now, busy)
        return list(busy.values())

    def _concerned(self, chain: ChainWorker, told: Told) -> list[Driven]:
        """The channels to which this is news."""
        ids = told.reads.keys() | told.differ.keys() | told.wrong.keys() | told.genuine
        if told.is_new:
            ids |= self._failing
        named = (self.channels.get(id_) for id_ in ids)
        return [each for each in named if each is not None and each.chain is chain]

    def _save_quiet(self, chain: ChainWorker, busy: dict[bytes, Driven]) -> None:
        """What has been read of channels in which nothing has happened for long."""
        for driven in self.channels.values():
            if driven.chain is chain and driven.is_up_to_date and not driven.channel.is_over_and_paid:
                driven.client.is_unsaved = True
                self._wake(driven, busy)

    def _wake(self, driven: Driven, busy: dict[bytes, Driven]) -> None:
        if driven.id not in busy:
            busy[driven.id] = driven
            self._attention.keep(driven.id)  # until it is settled, whatever fails
            driven.was, driven.performer.is_busy = driven.channel, False
            driven.client.wake(self._clock())

    def _listen(self, driven: Driven, now: float, busy: dict[bytes, Driven]) -> None:
        """What was said, what time brings, and what is left from before."""
        client, performer = driven.client, driven.performer
        self._attempt(driven, performer.receive)
        time = driven.chain.time
        if performer.has_received or driven.is_due_on_chain:
            self._wake(driven, busy)
            self._attempt(driven, performer.hear, driven.time)
            self._attempt(driven, client.apply, Tick(), time)
        if now >= driven.silence_at:
            driven.silence_at = now + _SILENCE_EVERY
            self._attempt(driven, client.break_silence, now, time)
        if client.has_work or performer.mistakes:
            self._wake(driven, busy)

    def _attempt(self, driven: Driven, part: Callable[..., object], *arguments: object) -> None:
        """What goes wrong with one channel is no other's concern."""
        try:
            part(*arguments)
        except Exception as error:
            driven.performer.mistakes.append(error)

    def _settle(self, driven: Driven) -> None:
        driven.due_at = next_due(driven.channel, driven.time())
        _keep_if(driven.chain.uncertain, driven.id, driven.client.is_uncertain)
        _keep_if(self._failing, driven.id, driven.client.has_failures)
        mistakes, driven.performer.mistakes = driven.performer.mistakes, []
        if not (driven.client.has_work or driven.performer.has_received):
            self._attention.settle(driven.id)
        driven.trouble = mistakes[0] if mistakes else None
        for each in mistakes:
            self._trouble(each)

    # --------------------------------------------------------------------------------------------------------- keeping

    def _commit(self, driven: Iterable[Driven]) -> None:
        """All that have changed. One that another process has taken over is dropped."""
        unsaved = [each for each in driven if each.client.is_unsaved]
        for id_ in self._keeper.commit(unsaved) if unsaved else ():
            self._drop(id_)

    def _drop(self, channel_id: bytes) -> None:
        self._forget(channel_id)
        self._trouble(LeaseLost(channel_id))

    def _forget(self, channel_id: bytes) -> None:
        driven = self.channels.pop(channel_id)
        self._failing.discard(channel_id)
        self._attention.forget(channel_id)
        driven.chain.let_go(channel_id)

    def _renew(self) -> None:
        held = self._keeper.renew()
        if held is None:
            return
        for driven in list(self.channels.values()):
            if ChannelLease(driven.id) not in held:
                self._drop(driven.id)
        for account, worker in self._crew.accounts.items():
            if worker.is_ours and account not in held:
                worker.dismiss()

    def let_go(self, channel_id: bytes) -> None:
        """Stop driving a channel. Another process may go on with it."""
        self._forget(channel_id)
        self._keeper.give_back([ChannelLease(channel_id)])

    def release(self) -> None:
        """Give everything back, so that another process need not wait for our leases to end. Drive nothing after
        this."""
        self._keeper.give_all_back(map(ChannelLease, self.channels))
        for id_ in list(self.channels):
            self._forget(id_)
        self._crew.accounts.clear()


def _keep_if(ids: set[bytes], channel_id: bytes, condition: bool) -> None:
    (ids.add if condition else ids.discard)(channel_id)
