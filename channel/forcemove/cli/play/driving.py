"""Drives one channel to its end with a node: for money, or for nothing without a chain."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any

from forcemove.chain.chain import Chain
from forcemove.chain.errors import Unreachable
from forcemove.cli.defending import Defence
from forcemove.cli.explanations import headline
from forcemove.cli.match.connectivity import ChainConnectivity, reporting_connectivity
from forcemove.cli.match.match import Match, run_with_background
from forcemove.cli.match.output import Output, TerminalOutput
from forcemove.cli.match.seats import PlayerSeat
from forcemove.cli.play.carrying import carry, until_delivered
from forcemove.cli.play.options import Wallet
from forcemove.cli.play.standby import when_free
from forcemove.cli.terminal import Terminal
from forcemove.errors import ChainError, ForcemoveError, JournalUnavailable, PassingError
from forcemove.follower.errors import AnotherChain
from forcemove.node.assemble import Assembly
from forcemove.node.errors import AccountInUse, LeaseLost
from forcemove.node.friendly import FriendlyAssembly
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.policy import default_look_every
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.results import is_over
from forcemove.store.journal import Journal
from forcemove.transport.messenger import ChannelMessenger
from forcemove.watchtower.client import TowerClient
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, TowerNotification, TowerPublisher, Unprotected

__all__ = ["PlayNode"]

_PASSING = (ChainError, PassingError, JournalUnavailable, AccountInUse)
"""Errors that may be gone at the next attempt."""
_SENDING_SECONDS = 60.0


class PlayNode:
    """The one node of a command that plays. It defends all channels that the journal has on the chain, where there is
    one, from before the lobby is entered until the command ends, and drives the command's own channel, too."""

    def __init__(
        self, journal: Journal, chains: Sequence[Chain], wallet: Wallet, lease: float, terminal: Terminal
    ) -> None:
        """Make the node and the defence.

        - `journal`: where the channels are stored.
        - `chains`: the chain through each endpoint; none for friendly games.
        - `wallet`: our keys.
        - `lease`: see `Node`.
        - `terminal`: where messages are printed while no channel is played.
        """
        self._wallet, self._terminal, self._chains = wallet, terminal, chains
        self._match: Match | None = None
        self._own: ManagedChannel | None = None
        self._output: Output = TerminalOutput(terminal)
        self._reported = ""
        # The policy was asked before the channel was agreed on, where an endpoint that hangs delays no defence.
        self._node = Node(journal, lease=lease, policy=None, on_error=self._on_node_error)
        self._defence = Defence(journal, self._node, chains, wallet.payer, self._say) if chains else None

    @property
    def has_money(self) -> bool:
        """Whether somebody has paid into a channel that is defended, as far as the journal knows."""
        return self._defence is not None and self._defence.has_money

    async def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run until `main` has ended. Raises what `main` raises."""
        try:
            await run_with_background(main, *self._background())
        finally:
            left = self._defence.open_besides(self._own.id if self._own else None) if self._defence else 0
            self._node.release()
            if left:
                which = "1 other channel is" if left == 1 else f"{left} other channels are"
                self._terminal.say(f"besides     {which} open in this journal; `forcemove channel list` shows them.")

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        """What goes on beside the command."""
        if self._defence is None:
            yield self._node.run()
        else:
            yield self._node.run(look_every=default_look_every(self._chains[0].chain_id))
            yield self._defence.run()

    async def drive(
        self,
        assembly: Assembly,
        confirmations: int,
        messenger: ChannelMessenger,
        seat: PlayerSeat,
        match: Match,
        towers: Sequence[TowerClient],
    ) -> Channel:
        """Drive the command's own channel until it is over, while `run` runs; the channel then. Raises as `Node.add`,
        and `Match.until`; after a passing error it is tried again.

        - `assembly`: the channel, and the contracts that it needs.
        - `confirmations`: see `Node.add`.
        - `messenger`: carries the channel's messages.
        - `seat`: our player, a person or a bot.
        - `match`: shows the channel.
        - `towers`: the watchtowers that are given an appointment.
        """
        setup = ChannelSetup(
            assembly,
            self._wallet.key,
            messenger,
            match.answer,
            on_event=match.on_event,
            confirmations=confirmations,
            payer=self._wallet.payer,
        )
        async with self._driving(setup, seat, match) as driven:
            publisher = TowerPublisher(towers, notify=_on_tower_notice(match, seat.output))
            if towers:
                self._node.on_committed(publisher.on_committed)
                publisher.add(driven, self._wallet.key)
            carrying, connectivity = carry(messenger, seat.output.say), ChainConnectivity(driven.chain.viewers)
            async with reporting_connectivity(connectivity, seat.output.say, "chain"):
                await run_with_background(
                    match.until(self._until_sent(driven), driven), carrying, publisher.run(), seat.run()
                )
        return driven.channel

    async def drive_friendly(
        self,
        assembly: FriendlyAssembly,
        messenger: ChannelMessenger,
        seat: PlayerSeat,
        match: Match,
        patience: float,
    ) -> Channel:
        """Drive a friendly channel, while `run` runs, until both have signed the end, and the end is posted; the
        channel then. Raises as `drive`.

        - `assembly`: the friendly channel.
        - `messenger`: carries the channel's messages.
        - `seat`: our player, a person or a bot.
        - `match`: shows the channel.
        - `patience`: seconds to wait at most until the end is posted.
        """
        setup = ChannelSetup(assembly, self._wallet.key, messenger, match.answer, on_event=match.on_event)
        async with self._driving(setup, seat, match) as driven:
            is_reported = until_delivered(lambda: driven.is_done, messenger, patience, seat.output.say, time.monotonic)
            await run_with_background(match.until(is_reported, driven), carry(messenger, seat.output.say), seat.run())
        return driven.channel

    @contextlib.asynccontextmanager
    async def _driving(self, setup: ChannelSetup, seat: PlayerSeat, match: Match) -> AsyncIterator[ManagedChannel]:
        """The command's own channel, once no other process drives it; what fails meanwhile is the match's."""
        self._match, self._output = match, seat.output
        driven = self._own = await when_free(lambda: self._node.add(setup), seat.output.say)
        seat.attach(driven)
        try:
            yield driven
        finally:
            self._match, self._output = None, TerminalOutput(self._terminal)

    def _until_sent(self, driven: ManagedChannel) -> Callable[[], bool]:
        """Whether a channel is over. Messages that are still to be sent then are waited for only for a while: a restart
        sends them."""
        over_at: float | None = None

        def has_ended() -> bool:
            nonlocal over_at
            if not is_over(driven.channel, driven.time()) or driven.client.has_work:
                return False
            over_at = over_at or time.monotonic()
            return not self._node.is_sending or time.monotonic() - over_at > _SENDING_SECONDS

        return has_ended

    def _say(self, text: str) -> None:
        self._output.say(text)

    def _on_node_error(self, error: Exception) -> None:
        """Report an error that passes once; an error of the match's own channel that does not pass ends the match."""
        is_fatal = isinstance(error, AnotherChain) or not isinstance(error, _PASSING)
        if is_fatal and self._match is not None and self._is_own(error):
            self._match.fatal_error = self._match.fatal_error or error
            return
        if isinstance(error, Unreachable) and self._own is not None:
            return  # the connectivity of the chain is reported like that of the relay
        text = headline(error) if is_fatal and isinstance(error, ForcemoveError) else _passing_text(error)
        if text != self._reported:
            self._reported = text
            self._output.note(text)

    def _is_own(self, error: Exception) -> bool:
        """Whether an error is of the command's own channel, or of no channel."""
        if self._own is None:
            return False
        if isinstance(error, AnotherChain | LeaseLost):
            return error.channel_id == self._own.id
        others = (each for id_, each in self._node.channels.items() if id_ != self._own.id)
        return not any(each.error is error for each in others)


def _passing_text(error: Exception) -> str:
    what = headline(error) if isinstance(error, ForcemoveError) else f"{type(error).__name__}: {error}."
    return f"{what} Trying again."


def _on_tower_notice(match: Match, output: Output) -> Callable[[TowerNotification], None]:
    """Show a warning as long as no watchtower has the newest state."""
    failed: dict[str, str] = {}

    def on_notice(notice: TowerNotification) -> None:
        match notice:
            case Acknowledged(url):
                failed.pop(url, None)
                match.warning = ""
            case NotAcknowledged(url, error=error):
                if failed.get(url) != (text := headline(error)):
                    failed[url] = text
                    output.note(f"tower       {text}")
            case Unprotected(turn_num=turn_num):
                match.warning = f"No watchtower has acknowledged turn {turn_num}: do not go away."

    return on_notice
