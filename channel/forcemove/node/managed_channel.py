"""One channel that a node drives, as its owner and the node see it."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace

from forcemove.chain.prices import Prices, dearest
from forcemove.follower.cross_check import is_live
from forcemove.follower.endpoint_quorum import QuorumUpdate
from forcemove.follower.follow_request import FollowRequest
from forcemove.history.entries import AppointmentAcknowledged
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import ChainDepth
from forcemove.history.tokens import Tokens
from forcemove.node.channel_row import ChannelRow
from forcemove.node.client import Client
from forcemove.node.effect_executor import EffectExecutor
from forcemove.node.friendly import ChainSource
from forcemove.node.metadata import ChannelMetadata
from forcemove.node.recorder import ChannelRecorder
from forcemove.protocol.machine.automatic_actions import next_due
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import Input, Tick
from forcemove.store.records import ChannelUpdate, StoredChannel

_FIRST_ANSWER = 8.0
"""Seconds for which nothing is said of endpoints that have not answered yet."""
_SILENCE_EVERY = 1.0
"""Seconds between two looks at whether the counterparties are silent."""


class ManagedChannel:
    """One channel that a node drives. Its owner reads it, feeds it and catches up with it; the node calls the rest.

    `id`: the channel's. `errors`: what went wrong in the last step; `error`: the first of them that is the channel's
    own, None where none is, or `catch_up` has raised it. `is_up_to_date`: whether all updates of its chain are taken
    in, and all endpoints agree on it. `is_put_away`: whether it was put away; `on_put_away`: see `Node.put_away`."""

    def __init__(
        self,
        client: Client,
        executor: EffectExecutor,
        recorder: ChannelRecorder,
        chain: ChainSource,
        following: FollowRequest,
        stored: StoredChannel | None,
        metadata: ChannelMetadata,
        on_input: Callable[[bytes], None],
        catch_up: Callable[[], Awaitable[None]],
        load_history: Callable[[bytes], ChannelHistory],
    ) -> None:
        """Put the channel together; `follow` begins to read its chain.

        - `client`: decides what is done.
        - `executor`: does it.
        - `recorder`: collects its history.
        - `chain`: where the channel's chain updates come from.
        - `following`: what `chain` needs to follow the channel.
        - `stored`: what the journal has of the channel, None for a new one.
        - `metadata`: what the journal has, or is to keep, of the channel besides its snapshot.
        - `on_input`: is called with the channel's id when something has come in.
        - `catch_up`: returns when the node has done all that there was to do.
        - `load_history`: what the journal has of a channel's history.
        """
        self.id = client.id
        self.client, self.executor, self.chain, self.following = client, executor, chain, following
        self.recorder = recorder
        recorder.attach(client.channel, client.require_save, lambda: on_input(client.id))
        self.error: Exception | None = None
        self.errors: list[Exception] = []
        self._row = ChannelRow(stored, metadata, recorder)
        self.is_up_to_date = self.is_put_away = False
        self.on_put_away: Callable[[bytes], None] = lambda _: None
        self._on_input, self._catch_up, self._load_history = on_input, catch_up, load_history
        self._metadata = metadata
        self._due_at: int | None = 0
        self._silence_at = 0.0
        self._was: Channel | None = None
        self._shown: Channel | None = None
        self._is_genuine = self._has_missed = self._is_read = False
        self._is_denied = True

    # ------------------------------------------------------------------------------------------------- for its owner

    @property
    def channel(self) -> Channel:
        """The channel as we see it."""
        return self.client.channel

    @property
    def version(self) -> int:
        """How often the channel was saved."""
        return self._row.version

    @property
    def tokens(self) -> Tokens:
        """What the channel's tokens say of themselves, as far as that was known when it began."""
        return self._metadata.tokens

    @property
    def prices(self) -> Prices:
        """What gas costs on the channel's chain, as far as that was asked for."""
        return dearest(each.prices for each in self.chain.viewers)

    @property
    def depth(self) -> ChainDepth | None:
        """How far the chain goes by the endpoint that has seen least of it, and how deep logs are believed; None before
        the chain was read, unless that takes long, and of a friendly channel."""
        health = [each.health() for each in self.chain.viewers]
        read = [each for each in health if each.number >= 0]
        silent = min((each.silent for each in health), default=0)
        if not read and silent < _FIRST_ANSWER:
            return None
        answering = sum(map(is_live, read))
        head, confirmations = min((each.number for each in read), default=-1), self._metadata.confirmations
        if answering:
            return ChainDepth(head, confirmations, answering, 0)
        failure = next((each.failure for each in self.chain.viewers if each.failure is not None), None)
        return ChainDepth(head, confirmations, 0, int(silent), failure)

    @property
    def phase(self) -> Phase:
        """The channel's phase at the chain's time that was read last."""
        return self.channel.phase(self.chain.time)

    @property
    def is_done(self) -> bool:
        """Whether the channel is over, all is paid, and that was saved and sent; or it was put away."""
        return self.is_put_away or (self.channel.is_over_and_paid and not self.client.has_work)

    def time(self) -> int:
        """The chain's time (seconds) that was read last."""
        return self.chain.time

    def feed(self, input_: Input) -> None:
        """Take in an input of the player's. What follows from it is saved and carried out by the node's next step.
        Raises as `machine.step`."""
        self.client.apply(input_, self.chain.time)
        self._on_input(self.id)

    def put_away(self) -> None:
        """End a friendly channel for us, unfinished. Raises as `Node.put_away`."""
        self.on_put_away(self.id)

    async def catch_up(self) -> bool:
        """Wait until the node has done all that there was to do. Returns whether the channel has changed since the last
        call. Raises what has gone wrong with the channel and will be tried again."""
        await self._catch_up()
        changed, self._shown = self._shown is not self.channel, self.channel
        error, self.error = self.error, None
        if error is not None:
            raise error
        return changed

    def history(self) -> ChannelHistory:
        """What has happened, as far as it is saved. Raises `JournalError`."""
        return self._load_history(self.id)

    def note_receipt(self, tower: str, turn_num: int) -> None:
        """Enter in the history that the watchtower at this address has the appointment up to this turn."""
        self.recorder.add(AppointmentAcknowledged(self.recorder.now(), tower, turn_num))

    # ------------------------------------------------------------------------------------------------- what comes in

    def follow(self) -> None:
        """Begin to read the chain for this channel."""
        self.chain.follow(self.following)

    def wake(self, now: float) -> None:
        """A new step of the node begins for this channel, at this time of our own clock (seconds)."""
        self._was = self.channel
        self.executor.begin()
        self.client.wake(now)

    def attempt(self, part: Callable[..., object], *arguments: object) -> None:
        """Do one part of the channel's work, and keep its error: the node continues the other channels."""
        try:
            part(*arguments)
        except Exception as error:
            self.executor.keep_error(error)

    @property
    def has_changed(self) -> bool:
        """Whether the channel has changed, or anything was done for it, since `wake`."""
        return self.executor.is_busy or self.channel is not self._was

    def due_by_clock(self, now: float) -> float | None:
        """The time of our own clock (seconds; `now` is its time now) at which the channel is to be stepped even if
        nothing happens: to greet silent counterparties, or to save what waits in the recorder. None for never."""
        at = now if self.recorder.has_entries else self.client.silent_at(now)
        return at if at is None or self._is_silence_due(now) else max(at, self._silence_at)

    def due_by_chain(self) -> float | None:
        """The block time (seconds) at which a step is due, infinite where time has brought all that it brings as long
        as it goes on; None for never."""
        self._due_at = next_due(self.channel, self.time())
        has_clock = self.channel.status.finalizes_at != 0 or self.channel.conclude_at is not None
        return math.inf if self._due_at is None and has_clock else self._due_at

    def _is_silence_due(self, now: float) -> bool:
        """Whether a second has passed since the last look for a silent counterparty, or the clock has jumped back."""
        return not 0 < self._silence_at - now <= _SILENCE_EVERY

    @property
    def has_connection_changed(self) -> bool:
        """Whether the messenger has lost or found its connection since the last look, or fails to say so."""
        return self.recorder.is_changed(lambda: self.executor.connection)

    @property
    def _is_due_on_chain(self) -> bool:
        return self._due_at is not None and self.chain.time >= self._due_at

    @property
    def has_input(self) -> bool:
        """Whether there is anything for `take_input`: messages, or a step that is due by the chain's time."""
        return self.executor.has_received or self._is_due_on_chain

    def take_input(self) -> None:
        """Take in the messages that were received, and the chain's time where that makes a step due."""
        now = self.chain.time
        self.attempt(self.executor.process_messages, now)
        if self._is_due_on_chain:
            self.attempt(self.client.apply, Tick(), now)

    def break_silence(self, now: float) -> None:
        """Greet counterparties that were silent for long; does nothing if called again within a second."""
        if self._is_silence_due(now):
            self._silence_at = now + _SILENCE_EVERY
            self.attempt(self.client.resync_after_silence, now, self.chain.time)
            self.recorder.on_connection(lambda: self.executor.connection)
            if self.recorder.has_entries:
                self.client.require_save()

    @property
    def is_unsettled(self) -> bool:
        """Whether there is anything left to do, or an error to report."""
        return self.client.has_work or bool(self.executor.errors)

    def on_chain_update(self, update: QuorumUpdate) -> None:
        """Take in what looks at the chain have found. Raises what is wrong with the channel, and what its client
        raises: then the channel is read again, from its beginning."""
        id_, now, differ = self.id, self.chain.time, update.differences.get(self.id)
        self.is_up_to_date = False
        self._is_denied = self._is_denied if differ is None else differ.is_denied
        read = update.updates.get(id_)
        if read is not None and (shown := update.logs.get(id_)) is not None and (shown.logs or read.from_scratch):
            self.recorder.on_logs(shown)
        try:
            self.client.on_chain_update(read, now, is_new_block=update.is_new, differences=differ)
            self._is_genuine = self._is_genuine or id_ in update.genuine
            if self._is_genuine:
                self.client.on_contracts_genuine(now)
        except BaseException:
            self._has_missed = True
            self.chain.follow(replace(self.following, checkpoint=None))
            raise
        if (wrong := update.channel_errors.get(id_)) is not None:
            raise wrong
        self._has_missed = self._has_missed and not (read is not None and read.from_scratch)
        self._is_read = self._is_read or read is not None
        self.is_up_to_date = self._is_read and not self._has_missed and not self._is_denied

    # ------------------------------------------------------------------------------------------------- what is done

    def settle(self) -> list[Exception]:
        """The node's step is over for this channel. Returns what has gone wrong in it."""
        uncertain = self.chain.uncertain
        (uncertain.add if self.client.is_uncertain else uncertain.discard)(self.id)
        errors = self.executor.take_errors()
        self.error = errors[0] if errors else None
        self.errors = errors + self.recorder.take_errors()
        return self.errors

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left for the next step."""
        return not (self.client.has_work or self.executor.may_have_more)

    def channel_update(self) -> ChannelUpdate:
        """What the journal is to commit of the channel."""
        cursor = self.chain.cursor if self.is_up_to_date else None
        return self._row.update(self.executor, self.chain.time, cursor, is_put_away=self.is_put_away)

    def on_version_written(self) -> None:
        """The last `channel_update` is on disk."""
        self._row.on_written()

    def on_saved(self) -> None:
        """The channel is on disk as it is now."""
        self.on_version_written()
        self.executor.on_saved()
