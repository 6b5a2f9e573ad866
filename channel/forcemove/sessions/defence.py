"""Defends the channels that a journal has on one chain, whatever else its command does, from its first second until it
ends.

The command's node reads the statuses of all channels through each endpoint, beside those of the channels that it
drives. Where any endpoint shows a clock that runs, it drives that channel, too, with the states that the journal has of
it and signing nothing, until the clock is stopped or the final outcome is paid. The other channels are left to their
players: a lease is taken only while there is something to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.game import Game
from forcemove.inspect.journal_channel import JournalChannel, read_channels
from forcemove.node.errors import ChannelInUse
from forcemove.node.events import Event, Mined, SubmissionRefused
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.setup import ChannelSetup, undecided
from forcemove.protocol.machine.effects import operation_name
from forcemove.protocol.signing import Key
from forcemove.protocol.types import Signature
from forcemove.protocol.words import Status
from forcemove.store.records import Ownership
from forcemove.text.explanations import headline
from forcemove.workers.chain_defaults import LOCAL_CHAINS

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_READ_JOURNAL_EVERY = 30.0
_AGAIN_AFTER = 30.0
"""Seconds for which a channel that we could do nothing for is left alone, unless its status changes."""
_IDLE, _IDLE_LOCAL = 180.0, 10.0
"""Seconds after which a channel that we drive without any change is left: a log is believed when it is as deep as the
chain wants."""
_STEP_EVERY = 0.1
_FIRST_LOOK = 3.0


class Nobody:
    """A transport without a counterparty."""

    def send(self, message: bytes) -> None:
        """Drops the message, as any transport may."""

    def receive(self) -> Sequence[bytes]:
        """No message, ever."""
        return ()


class _Absent(Key):
    """A participant's key that is not here: its address is known, and nothing can be signed."""

    __slots__ = ()

    def __init__(self, address: bytes) -> None:
        self.address = address

    def sign(self, digest: bytes) -> Signature:
        """Raises `InvalidValue`."""
        raise InvalidValue("key", digest, "nothing: the participant's key is not here")


@dataclass
class _Effort:
    """A channel that we drive. `since`: when it has changed last, by our own clock, in seconds."""

    driven: ManagedChannel
    since: float
    was: object = None


class Defence:
    """The defence of one journal on one chain. The driver of the node calls `step` again and again; `run` does that."""

    def __init__(
        self,
        journal: Journal,
        node: Node,
        chains: Sequence[Chain],
        games: Sequence[Game],
        payer: Key | bytes,
        notify: Callable[[str], None],
    ) -> None:
        """Prepare the defence; no endpoint is asked here.

        - `journal`: whose channels are defended.
        - `node`: drives the channels that need it.
        - `chains`: the chain through each endpoint.
        - `games`: those that are installed; a channel of another game cannot be defended.
        - `payer`: sends the transactions and pays the gas; a key, or the address of a wallet, see `ChannelSetup`.
        - `notify`: is called with a line of text for everything that is done.
        """
        self._journal, self._node, self._chains, self._games = journal, node, tuple(chains), tuple(games)
        self._payer, self._notify = payer, notify
        self._chain_id = chains[0].chain_id
        self._idle = _IDLE_LOCAL if self._chain_id in LOCAL_CHAINS else _IDLE
        self._open: dict[bytes, JournalChannel] = {}
        self._viewers: dict[bytes, Sequence[EndpointViewer]] = {}
        self._looks: list[int] = []
        self._efforts: dict[bytes, _Effort] = {}
        self._given_up: dict[bytes, tuple[float, frozenset[int]]] = {}
        self._with_clocks: set[bytes] = set()
        self._reported: set[tuple[bytes, str]] = set()
        self._read_at = -_READ_JOURNAL_EVERY
        self._since = time.monotonic()

    async def run(self) -> None:
        """Defend until this is cancelled."""
        while True:
            self.step()
            await asyncio.sleep(_STEP_EVERY)

    def step(self) -> None:
        """Begin or end to drive channels, as the endpoints show them now. Never waits."""
        if time.monotonic() - self._read_at >= _READ_JOURNAL_EVERY:
            self._read_journal()
        looks = [each.looks for viewers in self._viewers.values() for each in viewers]
        if looks != self._looks:  # whatever else of a look has failed
            self._looks = looks
            for id_ in list(self._open):
                self._consider(id_)

    @property
    def has_looked(self) -> bool:
        """Whether the running clocks are known, as far as they can be: an endpoint has answered, or none has for a
        while."""
        has_seen = any(each.statuses for viewers in self._viewers.values() for each in viewers)
        return has_seen or not self._open or time.monotonic() - self._since > _FIRST_LOOK

    @property
    def has_money(self) -> bool:
        """Whether the journal has a channel on this chain into which somebody has paid, as far as it knows."""
        return any(stored.held for stored in self._open.values())

    def open_besides(self, ids: Collection[bytes]) -> int:
        """How many other channels of this chain are open in the journal."""
        self._read_journal()
        return len(self._open.keys() - set(ids))

    # ----------------------------------------------------------------------------------------- what the endpoints show

    def _read_journal(self) -> None:
        self._read_at = time.monotonic()
        with contextlib.suppress(ForcemoveError):  # the channels that were read before are defended meanwhile
            found, _ = read_channels(self._journal, self._games, Ownership.ACTIVE, Ownership.BACKUP)
            ours = (each for each in found if each.chain_id == self._chain_id and not each.channel.is_over_and_paid)
            self._open = {each.id: each for each in ours}
            by_address: dict[bytes, list[JournalChannel]] = {each: [] for each in self._viewers}
            for each in self._open.values():
                by_address.setdefault(each.channel.agreement.domain.adjudicator, []).append(each)
            for address, stored in by_address.items():
                endpoints = [Adjudicator(chain, address) for chain in self._chains]
                depth = min((each.metadata.confirmations for each in stored), default=1)
                assets = {each.id: each.channel.agreement.fixed_part.asset for each in stored}
                self._viewers[address] = self._node.watch(endpoints, depth, assets)

    # --------------------------------------------------------------------------------------------- what follows from it

    def _consider(self, id_: bytes) -> None:
        viewers = self._viewers[self._open[id_].channel.agreement.domain.adjudicator]
        shown = frozenset(each.statuses.get(id_, 0) for each in viewers)
        has_clock = any(each and Status.unpack(each).finalizes_at for each in shown)
        if has_clock:
            self._with_clocks.add(id_)
        elif any(shown):
            self._with_clocks.discard(id_)
        effort = self._efforts.get(id_)
        if effort is not None:
            self._look_after(id_, effort, shown, has_clock=has_clock)
        # Where the record is gone with the clock the channel was paid out meanwhile: the journal is to know of it.
        elif id_ in self._with_clocks and id_ not in self._node.channels and not self._is_given_up(id_, shown):
            self._take_up(self._open[id_])

    def _is_given_up(self, id_: bytes, shown: frozenset[int]) -> bool:
        at, then = self._given_up.get(id_, (0.0, frozenset()))
        return id_ in self._given_up and then == shown and time.monotonic() - at < _AGAIN_AFTER

    def _take_up(self, stored: JournalChannel) -> None:
        def on_event(event: Event) -> None:
            self._report(stored.id, event)

        try:
            driven = self._node.add(
                ChannelSetup(
                    stored.assembly(self._chains[0], self._chains[1:]),
                    _Absent(stored.address),
                    Nobody(),
                    undecided,
                    on_event=on_event,
                    confirmations=stored.metadata.confirmations,
                    signs=False,
                    payer=self._payer,
                )
            )
        except ChannelInUse:
            return  # another process defends the channel
        except ForcemoveError as error:
            self._notify_once(stored.id, headline(error))
            return
        self._efforts[stored.id] = _Effort(driven, time.monotonic())
        self._notify_once(stored.id, "its clock runs: it is answered, or collected, with what the journal has")

    def _look_after(self, id_: bytes, effort: _Effort, shown: frozenset[int], *, has_clock: bool) -> None:
        """Leave the channel to others when its clock is stopped, all is paid, or there is nothing to do for it here."""
        if self._node.channels.get(id_) is not effort.driven:
            del self._efforts[id_]  # another process has taken it over
            return
        now, channel = time.monotonic(), effort.driven.channel
        if effort.was != (channel, shown):
            effort.was, effort.since = (channel, shown), now
        is_busy = bool(channel.requested) or effort.driven.client.has_work or self._node.is_sending_for(id_)
        is_stopped = not has_clock and not channel.status.finalizes_at and effort.driven.client.has_read_chain
        is_done = channel.is_over_and_paid or is_stopped
        if is_busy or not (is_done or now - effort.since > self._idle):
            return
        if is_done:
            self._with_clocks.discard(id_)
        del self._efforts[id_]
        self._given_up[id_] = now, shown
        self._node.release_channel(id_)

    def _report(self, id_: bytes, event: Event) -> None:
        match event:
            case Mined(submission, receipt):
                what = operation_name(submission)
                self._say(id_, f"{what}: in block {receipt.block_number:,}, {receipt.gas_used:,} gas")
            case SubmissionRefused(_, error):
                self._notify_once(id_, headline(error))

    def _notify_once(self, id_: bytes, text: str) -> None:
        if (id_, text) not in self._reported:
            self._reported.add((id_, text))
            self._say(id_, text)

    def _say(self, id_: bytes, text: str) -> None:
        self._notify(f"besides     0x{id_.hex()[:8]}\u2026 {text}")
