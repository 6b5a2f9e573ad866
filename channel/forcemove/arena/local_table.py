"""A channel for examples, experiments and tests of games: a chain in this process, the contracts on it, and a node for
each participant.

Built of the parts that any application uses, with the ports in memory; an application with another chain, messenger or
journal uses the same parts.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from forcemove.arena.participant import LocalParticipant
from forcemove.arena.virtual_time import VirtualTimeLoop
from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.chain.local import LOCAL_BALANCE, EmbeddedChain, deploy_locally, local_keys
from forcemove.errors import InvalidValue
from forcemove.flow.channel import UPDATES, Line, Seat
from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, run
from forcemove.flow.transport import MemoryTransport
from forcemove.game import Game, PlayableApp
from forcemove.node.assemble import assemble
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.types import MAX_PARTICIPANTS, MIN_PARTICIPANTS, Outcome

_CHALLENGE_DURATION = 3600
_MINUTE = 60.0


@dataclass(frozen=True)
class LocalTable:
    """One channel and its chain, and for each participant, in their order, a node over a journal in memory, the channel
    as that node drives it, and a line. `errors`: what has gone wrong and was not raised yet."""

    chain: Chain
    adjudicator: Adjudicator
    nodes: tuple[Node, ...]
    channels: tuple[ManagedChannel, ...]
    lines: tuple[Line, ...]
    errors: list[Exception]

    def play(self) -> None:
        """Poll all nodes in turn until nothing changes any more: the channel is closed, or a participant waits. Raises
        as `poll`."""
        while any(self.poll(seat) for seat in range(len(self.nodes))) or self.pass_on():
            pass

    def poll(self, seat: int) -> bool:
        """Let a participant's node do all that it can do now. Returns whether anything has happened. Raises the first
        error, when all else is done; the next poll goes on from there."""
        is_busy = self.nodes[seat].poll()
        if self.errors:
            first = self.errors[0]
            self.errors.clear()
            raise first
        return is_busy

    def pass_on(self) -> bool:
        """Deliver each message to all other participants. Returns whether there was any."""
        said = [(line, line.unsent.popleft()) for line in self.lines for _ in range(len(line.unsent))]
        for speaker, message in said:
            for line in self.lines:
                if line is not speaker:
                    line.received.append(message)
        return bool(said)

    def run(self, *flows: Step[Seat]) -> None:
        """Run a flow for each participant, all at once, in virtual time, which the chain's clock follows: no real time
        is waited for, and a deadline passes only when no flow has anything to do. Raises the first error of a flow."""
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(self._run(flows))

    async def _run(self, flows: tuple[Step[Seat], ...]) -> None:
        log = MemoryTransport()
        clock = asyncio.create_task(self._clock())
        try:
            async with asyncio.TaskGroup() as group:
                for index, (channel, line, flow) in enumerate(zip(self.channels, self.lines, flows, strict=True)):
                    seat = Seat(f"participant {index}", channel, line)
                    group.create_task(run(flow, ActionQueue(log, UPDATES), seat))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the other flows were cancelled because of it
        finally:
            clock.cancel()
            self.errors.clear()  # they were raised in the flows

    async def _clock(self) -> None:
        """Move the chain's clock on with the loop's, minute by minute."""
        begun, loop = self.chain.now(), asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_MINUTE)
            if begun + loop.time() > self.chain.now():
                self.chain.travel_to(begun + int(loop.time()))

    @property
    def outcome(self) -> Outcome:
        """What the newest state that the first participant has would pay; the agreed deposits before there is one."""
        channel = self.channels[0].channel
        return channel.newest.state.outcome if channel.newest else channel.agreement.outcome


def local_table(app: PlayableApp, *players: MoveChooser, stake: int, deposit: int | None = None) -> LocalTable:
    """A channel in ether between `players`, on a fresh chain in this process; `LocalTable.play` starts it.

    Each player is a function that answers `ChooseMove` with a move, the decision to conclude, or None; where flows make
    the moves (`LocalTable.run`), it is `undecided`. `stake` and `deposit` (five stakes unless given) are in wei. Raises
    `InvalidValue` for a deposit below the stake, and for a number of players that the game cannot have.
    """
    _require_seats(app, len(players))
    chain = EmbeddedChain()
    keys = local_keys()[: len(players)]
    assembly = assemble(
        chain,
        deploy_locally(chain, [app]),
        app,
        [key.address for key in keys],
        stake=stake,
        deposit=stake * DEPOSIT_IN_STAKES if deposit is None else deposit,
        duration=_CHALLENGE_DURATION,
    )
    errors, lines = list[Exception](), tuple(Line() for _ in players)
    seated = tuple(LocalParticipant(f"participant {seat}", key, errors.append) for seat, key in enumerate(keys))
    channels = (
        each.join(assembly, line, choose, max_cost=LOCAL_BALANCE, block_time=0)
        for each, line, choose in zip(seated, lines, players, strict=True)
    )
    return LocalTable(chain, assembly.adjudicator, tuple(each.node for each in seated), tuple(channels), lines, errors)


def _require_seats(app: PlayableApp, count: int) -> None:
    """Raise `InvalidValue` unless this many can play. A `Game` says how many can; any other app leaves that to its
    rules."""
    allowed = app.seats if isinstance(app, Game) else range(MIN_PARTICIPANTS, MAX_PARTICIPANTS + 1)
    if count not in allowed:
        raise InvalidValue("players", count, f"{' or '.join(map(str, allowed))} players")
