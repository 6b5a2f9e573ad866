"""Plays one channel over a relay from where it is to its end, and says what happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.explanations import headline
from forcemove.channel.cli.play.errors import GuestMissing
from forcemove.channel.cli.terminal import Terminal
from forcemove.channel.errors import ChainError, ForcemoveError, JournalUnavailable, PassingError
from forcemove.channel.flow.channel import Choose, is_stuck
from forcemove.channel.game import Game
from forcemove.channel.line.channel_line import ChannelLine
from forcemove.channel.line.connection import RelayConnection
from forcemove.channel.line.terms import Table, TableKind
from forcemove.channel.node.assemble import Assembly
from forcemove.channel.node.driven import Driven
from forcemove.channel.node.events import Event, Fault, Mined, Refused, Sent
from forcemove.channel.node.node import Node
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.channel.protocol.effects import ChooseMove, operation_name
from forcemove.channel.protocol.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.channel.protocol.json_text import hex_text
from forcemove.channel.protocol.outcome import Outcome
from forcemove.channel.protocol.signing import Key
from forcemove.channel.protocol.state import VariablePart
from forcemove.channel.store.journal import Journal

__all__ = ["NAMES", "Match", "is_unpaid"]

NAMES = ("Host", "Guest")
"""Of the players, by seat."""
_LOOK_EVERY = 0.25


def is_unpaid(channel: Channel) -> bool:
    """Whether nobody has paid in, as far as we know, and nothing of ours is on its way."""
    return not any(held for _, held in channel.holdings) and not channel.requested


class Match:
    """One channel, played with `choose`. `patience`: seconds that a counterparty may take before it is challenged."""

    def __init__(self, journal: Journal, game: Game, choose: Choose, patience: float, terminal: Terminal) -> None:
        self._node, self._game, self._choose = Node(journal, trouble=self._hear_trouble), game, choose
        self._patience, self._terminal = patience, terminal
        self._shown = -1
        self._since = time.monotonic()
        self._progress: object = None
        self._lasting: Exception | None = None

    async def run(
        self, relay: RelayConnection, assembly: Assembly, key: Key, confirmations: int, *, is_new: bool
    ) -> Channel:
        """Until everything is paid out; returns the channel as it is then. What is cut off goes on from the journal.
        `is_new`: we have heard nothing of it; else what was said before is made good by a greeting.
        Raises `GuestMissing`, what `Node.add` and the relay raise, and what trying again does not mend."""
        agreement = assembly.agreement
        table = Table(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
        transport = await relay.join(table, key)
        line = ChannelLine(transport, 0 if is_new else transport.length())
        driven = self._node.add(assembly, key, line, self._answer, report=self._report, confirmations=confirmations)
        self._terminal.say(f"You are the {NAMES[driven.channel.index].lower()} in channel {hex_text(driven.id)}.")
        try:
            await _beside(self._until_over(driven), self._node.run(), line.run())
        finally:
            self._node.release()
            self._terminal.close()
        return driven.channel

    def _hear_trouble(self, error: Exception) -> None:
        """What has failed and will be tried again; what that does not mend ends the match."""
        if isinstance(error, ChainError | PassingError | JournalUnavailable):
            self._terminal.status(f"{_first_line(error)} Trying again")
        else:
            self._lasting = self._lasting or error

    # -------------------------------------------------------------------------------------------------------- waiting

    async def _until_over(self, driven: Driven) -> None:
        while not (driven.channel.is_over_and_paid and not driven.client.has_work and not self._node.is_sending):
            if self._lasting is not None:
                raise self._lasting
            self._terminal.status(self._status(driven))
            self._press(driven)
            await asyncio.sleep(_LOOK_EVERY)

    def _press(self, driven: Driven) -> None:
        """Let the chain decide where nothing has happened for too long. Raises `GuestMissing` where there is nothing to
        decide: nobody has paid in."""
        channel, newest = driven.channel, driven.channel.newest
        progress = (channel.next_turn, channel.holdings, driven.phase, len(newest.signed.signatures) if newest else 0)
        if progress != self._progress:
            self._progress, self._since = progress, time.monotonic()
        if time.monotonic() - self._since < self._patience:
            return
        self._since = time.monotonic()
        if driven.phase in (Phase.CHECKING, Phase.PREFUND, Phase.FUNDING) and is_unpaid(channel):
            raise GuestMissing(driven.id, self._patience)
        if is_stuck(channel, driven.phase):
            self._challenge(driven)

    def _challenge(self, driven: Driven) -> None:
        self._terminal.say(f"Nothing was heard for {self._patience:.0f} seconds: a challenge asks the chain.")
        try:
            driven.feed(ChallengeWanted())
        except ForcemoveError as error:
            self._terminal.note(_first_line(error))

    def _status(self, driven: Driven) -> str:
        channel, phase = driven.channel, driven.phase
        if phase is Phase.CHALLENGED:
            left = channel.status.finalizes_at - driven.time()
            return f"Turn {channel.next_turn}: {max(0, left):,} seconds left to answer the challenge"
        if phase is Phase.PLAYING:
            return f"Turn {channel.next_turn}: {NAMES[channel.next_turn % len(NAMES)]} is to move"
        return str(phase.value).capitalize()

    # -------------------------------------------------------------------------------------------------------- telling

    def _answer(self, question: ChooseMove) -> MoveChosen | ConcludeWanted:
        self._show(question.state)
        return self._choose(question)

    def _report(self, event: Event) -> None:
        match event:
            case Sent(signed):
                self._show(signed.state)
            case Mined(submission, receipt):
                what = operation_name(submission)
                self._terminal.say(f"chain       {what}: in block {receipt.block_number:,}, {receipt.gas_used:,} gas")
            case Refused(_, error) | Fault(error):
                self._terminal.note(_first_line(error))

    def _show(self, state: VariablePart) -> None:
        """Each turn of the game once, and nothing of the opening."""
        if state.turn_num <= max(self._shown, 2 * len(NAMES) - 1):
            return
        self._shown = state.turn_num
        what = "the game is over: pay this." if state.is_final else self._game.describe(state, NAMES)
        self._terminal.say(f"turn {state.turn_num:>4}   {what}")
        self._terminal.say(f"            if it ended now: {_balances(state.outcome)}")


def _balances(outcome: Outcome) -> str:
    return ", ".join(f"{name} {format_amount(each.amount)}" for name, each in zip(NAMES, outcome, strict=False))


def _first_line(error: Exception) -> str:
    return headline(error) if isinstance(error, ForcemoveError) else str(error)


async def _beside(main: Coroutine[Any, Any, None], *others: Coroutine[Any, Any, None]) -> None:
    """Until `main` has ended, or another raises; raises the first error."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in others]
            await main
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from None  # the others were cancelled because of it


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
