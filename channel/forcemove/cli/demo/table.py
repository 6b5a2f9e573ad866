"""One channel of a demonstration: its players around a log, with every signed state and transaction shown and counted
once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from forcemove.cli.demo.environment import MAX_COST, DemoEnvironment
from forcemove.cli.demo.results import MinedTransaction, PlayerResult, ScenarioResult
from forcemove.errors import ChainError, ForcemoveError
from forcemove.flow.channel import UPDATES, ConcludeWanted, Line, MoveChosen, Seat, moves_of
from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, run
from forcemove.flow.transport import MemoryTransport
from forcemove.game import Bot, Game
from forcemove.node.assemble import Assembly
from forcemove.node.events import CounterpartyFault, Event, Mined, Sent, SubmissionRefused
from forcemove.node.local import undecided
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.node import Node
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.machine.effects import SubmitChallenge, operation_name
from forcemove.protocol.outcome import Outcome
from forcemove.protocol.state import SignedState, VariablePart
from forcemove.protocol.types import ETHER
from forcemove.tables.playing.match import run_with_background

__all__ = ["DemoPlayer", "DemoTable", "new_table"]

_DONE = {
    "deposit": "deposits",
    "challenge": "challenges: the clock starts",
    "respond": "responds with the next move",
    "checkpoint": "checkpoints a later state",
    "conclude": "concludes, and all are paid",
    "transfer": "has the outcome paid out",
}
_GIVE_UP_AFTER = 10.0
"""Real seconds without an answer after which a node counts as gone."""


class DemoPlayer:
    """One seat: a client, its place on the table's log, and a bot."""

    def __init__(self, seat: int, name: str, bot: Bot, log: MemoryTransport, node: Node) -> None:
        """Give a player its seat.

        - `seat`: the player's index in the channel.
        - `name`: as it is shown.
        - `bot`: decides the moves.
        - `log`: the table's log, which all players share.
        - `node`: drives the player's channel.
        """
        self.seat, self.name, self.bot, self.node = seat, name, bot, node
        self.line, self.queue = Line(), ActionQueue(log, UPDATES)
        self.refusals: list[ForcemoveError] = []
        self.client: ManagedChannel

    def place(self, environment: DemoEnvironment) -> Seat:
        """The context for the steps of a flow."""
        patience, look_every = environment.patience, environment.look_every
        return Seat(self.name, self.client, self.line, patience, look_every, on_error=environment.on_error)

    def move(self, *, another_round: bool) -> MoveChosen | ConcludeWanted:
        """What the bot would do next."""
        question = self.client.channel.question(self.newest.state)
        return moves_of(self.bot, another_round=lambda _: another_round)(question)

    @property
    def newest(self) -> SignedState:
        """The newest state that this player has."""
        newest = self.client.channel.newest
        if newest is None:
            raise RuntimeError("the channel has no state")
        return newest.signed


def new_table(environment: DemoEnvironment, game: Game, seats: int, *, careless: int | None = None) -> DemoTable:
    """A new channel between `seats` players. `careless`: the seat of a player that moves without thinking."""
    return DemoTable(environment, game, environment.assemble(game, seats), careless=careless)


class DemoTable:
    """One channel: an agreement, the players around a log, and all signed states. Made inside an event loop;
    `challenged`: the player that has made the first challenge, once one has."""

    def __init__(
        self, environment: DemoEnvironment, game: Game, assembly: Assembly, *, careless: int | None = None
    ) -> None:
        self.environment, self.game, self.agreement = environment, game, assembly.agreement
        self.number = environment.take_number()
        self._assembly, self.adjudicator = assembly, assembly.adjudicator
        self.log = MemoryTransport()
        self.signed: list[SignedState] = []
        self.attempt = "sends something"
        self._silence: tuple[DemoPlayer, float] | None = None
        self.challenged: asyncio.Future[DemoPlayer] = asyncio.get_running_loop().create_future()
        self._asset = self.agreement.deposits[0][0]
        self._refused: set[tuple[int, str]] = set()
        self._before = tuple(
            environment.balance(key.address, self._asset) for key in environment.keys[: self.agreement.count]
        )
        self._first_transaction = len(environment.spent)
        self.players = tuple(self._player(seat, careless) for seat in range(self.agreement.count))

    def _player(self, seat: int, careless: int | None) -> DemoPlayer:
        bot = self.game.careless_bot(seat) if seat == careless else self.game.bot(seat)
        player = DemoPlayer(seat, self.environment.output.names[seat], bot, self.log, self.environment.node(seat))
        player.client = player.node.add(
            ChannelSetup(
                self._assembly,
                self.environment.keys[seat],
                player.line,
                undecided,
                on_event=lambda event: self._report(player, event),
                max_cost=MAX_COST,
            )
        )
        return player

    async def together(self, *flows: Step[Seat], background: Coroutine[Any, Any, None] | None = None) -> None:
        """Run all players' flows at once, until all have ended; `background`: runs meanwhile. Raises the error that
        ends one of them early, and the chain's error when it has lasted too long."""
        await self._watched([self._run(*each) for each in zip(self.players, flows, strict=True)], background)

    async def alone(self, player: DemoPlayer, flow: Step[Seat]) -> None:
        """Run one player's flow, while the others do nothing. Raises as `together` does."""
        await self._watched([self._run(player, flow)], None)

    async def _run(self, player: DemoPlayer, flow: Step[Seat]) -> None:
        await run(flow, player.queue, player.place(self.environment))

    async def _watched(
        self, flows: list[Coroutine[Any, Any, None]], background: Coroutine[Any, Any, None] | None
    ) -> None:
        async def main() -> None:
            async with asyncio.TaskGroup() as group:
                for flow in flows:
                    group.create_task(flow)

        others = [each for each in (self._watch_the_chain(), background) if each is not None]
        await run_with_background(main(), *others)

    async def _watch_the_chain(self) -> None:
        """Show the time that a challenge leaves. Raises the chain's error when it has lasted for some time, whatever
        the clients make of that."""
        answered = time.monotonic()
        while True:
            await asyncio.sleep(self.environment.look_every)
            try:
                self._show_clock()
                answered = time.monotonic()
            except ChainError:
                if time.monotonic() > answered + _GIVE_UP_AFTER:
                    raise

    def fall_silent(self, player: DemoPlayer) -> None:
        """Stop answering for a player, while the others wait."""
        self._silence = player, asyncio.get_running_loop().time() + self.environment.patience

    def _show_clock(self) -> None:
        """Show what is waited for in the status line: the end of a challenge, or a silent player."""
        finalizes_at = self.adjudicator.status_of(self.agreement.channel_id).finalizes_at
        left = finalizes_at - self.environment.chain.next_time() if finalizes_at else 0
        text = f"{left:,} seconds left to answer the challenge" if left > 0 else "Playing"
        if self._silence is not None and not finalizes_at:
            player, end = self._silence
            patience = max(0, round(end - asyncio.get_running_loop().time()))
            text = f"{self._others_of(player)} waits for {player.name}: {patience} more seconds"
        self.environment.output.status(text)

    def say(self, player: DemoPlayer, message: bytes) -> None:
        """Give a message to the other players' clients, whatever it is."""
        for other in self.players:
            if other is not player:
                other.line.received.append(message)
                other.node.poll()

    def _others_of(self, player: DemoPlayer) -> str:
        """The name of the other player, where there is one other."""
        others = [other.name for other in self.players if other is not player]
        return others[0] if len(others) == 1 else "another player"

    # ------------------------------------------------------------------------------------------------------- showing

    def _report(self, player: DemoPlayer, event: Event) -> None:
        output = self.environment.output
        match event:
            case Sent(signed):
                self._show_turn(player.seat, signed)
            case Mined(submission, receipt):
                operation = operation_name(submission)
                if self.environment.charge(self.environment.keys[player.seat].address, receipt, operation):
                    output.transaction(player.name, _DONE[operation], receipt.gas_used)
                if isinstance(submission, SubmitChallenge) and not self.challenged.done():
                    self.challenged.set_result(player)
            case SubmissionRefused(submission, error):
                self._show_refusal(player, player.name, operation_name(submission), error)
            case CounterpartyFault(error):
                self._show_refusal(player, self._others_of(player), self.attempt, error)

    def _show_refusal(self, player: DemoPlayer, who: str, what: str, error: ForcemoveError) -> None:
        player.refusals.append(error)
        line = f"{who} {what}: {error}"
        if (player.seat, line) not in self._refused:
            self._refused.add((player.seat, line))
            self.environment.output.refused(who, what, error)

    def _show_turn(self, seat: int, signed: SignedState) -> None:
        """Show a state that this seat has signed, once, however often the client sends it."""
        output, state, mover = self.environment.output, signed.state, signed.state.turn_num % self.agreement.count
        self.signed.append(signed)
        self._save(signed)
        if seat != mover:
            output.countersigned(seat, state.turn_num)
        elif state.turn_num < 2 * self.agreement.count and not state.is_final:
            output.setup(seat, "prefund" if state.turn_num < self.agreement.count else "postfund", state.turn_num)
        else:
            output.turn(self.game, seat, state, self.agreement.count)

    def _save(self, signed: SignedState) -> None:
        if self.environment.save_to is None:
            return
        from forcemove.protocol.codec.wire import SignedStateFile, encode_file

        file = SignedStateFile(self.agreement.domain, self.agreement.fixed_part, signed)
        name = f"{self.game.name}-{self.number}-turn-{signed.state.turn_num}.json"
        (self.environment.save_to / name).write_text(encode_file(file), "utf-8")

    # ------------------------------------------------------------------------------------------------------- settling

    def settle(self, scenario: str, outcome: Outcome, *, as_expected: bool = True) -> ScenarioResult:
        """Compare the balances on the chain with the expected ones: deposits out, the outcome in, less gas. The
        journals forget a channel in which nothing is left. `as_expected`: whether everything else went as it must."""
        holdings = self.adjudicator.holdings_of(self.agreement.channel_id, self._asset)
        is_closed = holdings.closed and holdings.held == 0
        if is_closed:
            self.environment.forget(self.agreement.channel_id)
        transactions = tuple(self.environment.spent[self._first_transaction :])
        result = ScenarioResult(
            self.game.name,
            scenario,
            self.agreement.domain.chain_id,
            self.agreement.domain.adjudicator,
            self.agreement.channel_id,
            self._asset,
            self.environment.stake,
            tuple(self._player_result(each.seat, outcome, transactions) for each in self.players),
            transactions,
            as_expected,
            is_closed,
        )
        self.environment.output.result(result)
        return result

    def _player_result(self, seat: int, outcome: Outcome, transactions: tuple[MinedTransaction, ...]) -> PlayerResult:
        address, deposit = self.environment.keys[seat].address, self.agreement.deposits[0][1][seat]
        own = [each for each in transactions if each.sender == address]
        cost = sum(each.gas_cost for each in own)
        left = self._before[seat] - deposit - (cost if self._asset == ETHER else 0)
        found = self.environment.balance(address, self._asset)
        return PlayerResult(
            self.environment.output.names[seat],
            address,
            self._asset,
            deposit,
            received=found - left,
            gas_used=sum(each.gas_used for each in own),
            gas_cost=cost,
            expected=left + outcome[seat].amount,
            found=found,
        )

    @property
    def last(self) -> VariablePart:
        """The state of the highest turn that anybody has signed."""
        return max((signed.state for signed in self.signed), key=lambda state: state.turn_num)
