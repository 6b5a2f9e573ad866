"""Drives one friendly channel: one without a chain, played for nothing. Rules, signatures, journal and line are those
of any other channel; its end is the final state that all have signed, and nobody can be forced to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from forcemove.errors import InvalidValue
from forcemove.game import PlayableApp
from forcemove.node.client import Client, begin_or_resume
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.errors import LeaseLost, NotOursToDrive
from forcemove.node.events import CounterpartyFault, Event, Sent
from forcemove.node.leases import HeldLease
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.node.outbox import PendingEvidence
from forcemove.node.ports import Messenger, WakingMessenger
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendGreeting, SendState
from forcemove.protocol.machine.inputs import ChainUpdate, Input
from forcemove.protocol.signing import Key
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelUpdate, Ownership, StoredChannel

__all__ = ["FriendlyChannel"]

_NOTHING = ChainUpdate((), from_scratch=True)
"""What there is to see of a chain that is not there."""
_OFTEN, _SELDOM = 0.05, 1.0
"""Seconds between two looks at a line; one that calls when something has come in is looked at for our own clock's
sake."""
_NO_FACTORY = bytes(20)


class FriendlyChannel:
    """One participant in it. `run` drives it, in the event loop in which its line is carried."""

    def __init__(
        self,
        journal: Journal,
        agreement: Agreement,
        key: Key,
        app: PlayableApp,
        messenger: Messenger,
        choose: MoveChooser,
        *,
        on_event: Callable[[Event], None] = lambda _: None,
        lease: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """A new one, or the one that the journal remembers. `lease`: as of `Node`. `clock`: Unix seconds.

        Raises `InvalidValue` where the agreement is of a chain, or is not ours; `ChannelInUse`, `NotOursToDrive`,
        `JournalError`.
        """
        if not agreement.is_friendly:
            raise InvalidValue("chain_id", agreement.domain.chain_id, "0: a channel without a chain")
        self._journal, self._messenger, self._choose, self._on_event = journal, messenger, choose, on_event
        self._clock, self._renewed_at = clock, clock()
        self._evidence, self._awake = PendingEvidence(), asyncio.Event()
        if isinstance(messenger, WakingMessenger):
            messenger.listen(self._awake.set)
        self._hold = HeldLease(journal, agreement.channel_id, lease)
        try:
            stored = journal.load(agreement.channel_id)
            channel = begin_or_resume(_remembered(stored), agreement, key)
        except BaseException:
            self._hold.release()
            raise
        self._client = Client(channel, key, app)
        self._version = stored.version if stored else 0
        self._metadata = ChannelMetadata(app.artifact.name, 0, _NO_FACTORY, 0, begun_at=self.time())
        self._client.wake(clock())
        self._client.on_chain_update(_NOTHING, self.time(), is_new_block=False)
        self._client.on_contracts_genuine(self.time())

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self._client.id

    @property
    def channel(self) -> Channel:
        """The channel as we see it."""
        return self._client.channel

    @property
    def phase(self) -> Phase:
        """Its phase now."""
        return self.channel.phase(self.time())

    def time(self) -> int:
        """Unix seconds of our own clock."""
        return int(self._clock())

    @property
    def is_done(self) -> bool:
        """Whether all have signed the end, and that was saved and sent."""
        return self.channel.is_over_and_paid and not self._client.has_work

    def feed(self, input_: Input) -> None:
        """A wish of the player's; what follows from it is saved and done by the next `poll`. Raises as
        `machine.step`."""
        self._client.apply(input_, self.time())
        self._awake.set()

    async def run(self) -> None:
        """Until it is cancelled. Raises as `poll`."""
        pause = _SELDOM if isinstance(self._messenger, WakingMessenger) else _OFTEN
        while True:
            if not self.poll():
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._awake.wait()
            self._awake.clear()
            await asyncio.sleep(0)

    def poll(self) -> bool:
        """Take in what was said, save, and send; whether there was anything. Raises `LeaseLost`, `JournalError`, and
        what `choose` raises."""
        self._renew()
        before, client = self.channel, self._client
        client.wake(self._clock())
        for message in self._messenger.receive():
            client.on_message(message, self.time())
            self._keep_faults()
        client.resync_after_silence(self._clock(), self.time())
        while client.is_unsaved or client.has_due:
            self._ask()
            self._save()
            self._carry_out()
        return self.channel is not before

    def release(self) -> None:
        """Let another process drive it. Drive it no more after this."""
        self._hold.release()

    def _renew(self) -> None:
        if self._clock() - self._renewed_at >= self._hold.renew_every:
            self._renewed_at = self._clock()
            self._hold.renew()

    def _keep_faults(self) -> None:
        for fault in self._client.take_faults():
            self._evidence.keep_evidence(self.id, fault)
            self._notify(CounterpartyFault(fault))

    def _save(self) -> None:
        if not self._client.is_unsaved:
            return
        update = ChannelUpdate(
            self.id,
            self._version,
            CHANNELS.encode(self.channel),
            None if self._version else METADATA.encode(self._metadata),
            finished=self.channel.is_over_and_paid,
            evidence=tuple(self._evidence.pending),
        )
        if self._journal.commit(Batch((update,))):
            raise LeaseLost(self.id)
        self._version += 1
        self._evidence.pending.clear()
        self._client.is_unsaved = False

    def _ask(self) -> None:
        """The player first: the answer is saved in one commit with what it answers."""
        while (question := self._client.take_question()) is not None:
            self._choose_after(question)
            self._client.done(question)

    def _carry_out(self) -> None:
        """What is due, of a channel that is saved; a move that the player makes is saved before anything else."""
        client = self._client
        while not client.is_unsaved and (effect := client.take_due()) is not None:
            self._do(effect)
            client.done(effect)

    def _do(self, effect: Effect) -> None:
        """What would be asked of a chain is not asked."""
        match effect:
            case SendState(signed, again):
                self._messenger.send(encode_message(self.id, signed))
                if not again:
                    self._notify(Sent(signed))
            case SendGreeting(next_turn):
                self._messenger.send(encode_greeting(self.id, self.channel.index, next_turn))
            case ChooseMove():
                self._choose_after(effect)

    def _choose_after(self, question: ChooseMove) -> None:
        decided = self._choose(question)
        if decided is not None:
            self._client.apply(decided, self.time())

    def _notify(self, event: Event) -> None:
        """What the owner makes of it undoes nothing."""
        with suppress(Exception):
            self._on_event(event)


def _remembered(stored: StoredChannel | None) -> Channel | None:
    """Raises `NotOursToDrive` of one that was moved, or is a copy."""
    if stored is None:
        return None
    if stored.ownership not in (Ownership.ACTIVE, Ownership.FINISHED):
        raise NotOursToDrive(stored.channel_id)
    return CHANNELS.decode(stored.snapshot)
