"""One channel of a demonstration: its players, each with a node, in this process; every signed state and transaction is
shown and counted once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from forcemove.arena.balances import BalanceCheck
from forcemove.arena.network import MemoryMessenger, MemoryNetwork
from forcemove.arena.participant import LocalParticipant
from forcemove.demo.environment import MAX_COST, DemoEnvironment
from forcemove.demo.results import ScenarioResult, TransactionJson, gas_cost_of
from forcemove.errors import ChainError, ForcemoveError
from forcemove.flow.channel import is_stuck, moves_of
from forcemove.game import Bot, Game
from forcemove.history.summary import left_in
from forcemove.node.assemble import Assembly
from forcemove.node.events import CounterpartyFault, Event, Mined, Sent, SubmissionRefused
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.channel import OVER
from forcemove.protocol.machine.effects import ChooseMove, SubmitChallenge, operation_name
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.types import Outcome, SignedState, VariablePart
from forcemove.protocol.words import Status
from forcemove.sessions.playing.patience import Patience

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
_LAST_TURN = 12
"""The turn after which players leave, unless a scenario lets them go on."""


class DemoPlayer:
    """One seat. `managed`: the channel as the player's node drives it. `leaves`: whether the player leaves after this
    state, where no round is running. `stops`: whether the player waits once it knows this state; `is_waiting`: whether
    it has begun to."""

    def __init__(
        self, seat: int, participant: LocalParticipant, bot: Bot, end: MemoryMessenger, patience: Patience
    ) -> None:
        """Give a player its seat.

        - `seat`: the player's index in the channel.
        - `participant`: whose node drives the channel.
        - `bot`: decides the moves.
        - `end`: the player's messenger.
        - `patience`: the player's patience with the others.
        """
        self.seat, self.name, self.node = seat, participant.name, participant.node
        self.bot, self.end, self.patience = bot, end, patience
        self.leaves: Callable[[VariablePart], bool] = lambda state: state.turn_num >= _LAST_TURN
        self.stops: Callable[[VariablePart], bool] = lambda _: False
        self.is_waiting = False
        self.refusals: list[ForcemoveError] = []
        self.managed: ManagedChannel

    def answer(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """What the bot does next; None where the player waits."""
        self.look_at(question.state)
        return None if self.is_waiting else self.decide(question)

    def decide(self, question: ChooseMove) -> MoveChosen | ConcludeWanted:
        """What the bot does next."""
        return moves_of(self.bot, another_round=lambda state: not self.leaves(state))(question)

    def look_at(self, state: VariablePart) -> None:
        """Know a state of the game: it may be one at which the player begins to wait."""
        self.is_waiting = self.is_waiting or self.stops(state)

    def is_next(self, state: VariablePart) -> bool:
        """Whether the player is to move after this state."""
        return (state.turn_num + 1) % len(state.outcome) == self.seat

    @property
    def question(self) -> ChooseMove:
        """What the player is to decide now."""
        return self.managed.channel.question(self.newest.state)

    @property
    def newest(self) -> SignedState:
        """The newest state that this player has."""
        newest = self.managed.channel.newest
        if newest is None:
            raise RuntimeError("the channel has no state")
        return newest.signed


class DemoTable:
    """One channel: an agreement, the players around a network, and all signed states. `challenger`: the player that has
    made the first challenge, once one has. `absent`: a player that does nothing, while the others wait. `say`: shows a
    remark on the scenario."""

    def __init__(self, environment: DemoEnvironment, game: Game, assembly: Assembly) -> None:
        self.environment, self.game, self.agreement = environment, game, assembly.agreement
        self.say = environment.output.say
        environment.tables += 1
        self.number = environment.tables
        self._assembly, self.adjudicator = assembly, assembly.adjudicator
        self.network = MemoryNetwork(self.agreement.count)
        self.signed: list[SignedState] = []
        self.attempt = "sends something"
        self.challenger: DemoPlayer | None = None
        self.absent: DemoPlayer | None = None
        self._asset = self.agreement.deposits[0][0]
        self._refused: set[tuple[int, str]] = set()
        self._before = tuple(
            environment.balance(key.address, self._asset) for key in environment.keys[: self.agreement.count]
        )
        self._first_transaction = len(environment.spent)
        self.players = tuple(self._player(seat) for seat in range(self.agreement.count))

    def _player(self, seat: int) -> DemoPlayer:
        participant, end = self.environment.player(seat), self.network.ends[seat]
        player = DemoPlayer(seat, participant, self.game.bot(seat), end, Patience(self.environment.patience, 0))
        player.managed = participant.join(
            self._assembly, end, player.answer, on_event=lambda event: self._report(player, event), max_cost=MAX_COST
        )
        return player

    # -------------------------------------------------------------------------------------------------------- playing

    async def play(self, is_over: Callable[[], bool]) -> None:
        """Let all players who are not absent do what they do, until `is_over` holds. A player that waits for too long
        challenges. Raises the chain's error when it has lasted for some time, whatever the clients make of that."""
        answered = time.monotonic()
        while not is_over():
            if self._step():
                continue
            try:
                self._show_clock()
                answered = time.monotonic()
            except ChainError:
                if time.monotonic() > answered + _GIVE_UP_AFTER:
                    raise
            self._lose_patience()
            await asyncio.sleep(self.environment.look_every)

    def _step(self) -> bool:
        """Let each player who is not absent do what there is to do now; returns whether anything has happened."""
        has_happened = [player.node.poll() for player in self._present]
        return any(has_happened)

    @property
    def _present(self) -> list[DemoPlayer]:
        return [player for player in self.players if player is not self.absent]

    @property
    def is_paid(self) -> bool:
        """Whether the channel is over for all players who are not absent, it has paid all that it holds, and what each
        of their transactions has cost is known: a deposit that was never made cannot be paid."""
        if any(player.node.is_sending_for(player.managed.id) for player in self._present):
            return False
        channels = [player.managed for player in self._present]
        return all(each.phase in OVER and not left_in(each.channel) and not each.client.has_work for each in channels)

    @property
    def status(self) -> Status:
        """The channel's status on the chain. Raises `ChainError`."""
        return self.adjudicator.status_of(self.agreement.channel_id, self.agreement.fixed_part.asset)

    def _lose_patience(self) -> None:
        now = asyncio.get_running_loop().time()
        for player in self._present:
            channel, phase = player.managed.channel, player.managed.phase
            if player.patience.is_lost(channel, phase, now) and is_stuck(channel, phase):
                player.patience.begin(now)
                with contextlib.suppress(ForcemoveError):  # there may be nothing to challenge with yet
                    player.managed.feed(ChallengeWanted())

    def _show_clock(self) -> None:
        """Show what is waited for in the status line: the end of a challenge, or a silent player."""
        finalizes_at = self.status.finalizes_at
        left = finalizes_at - self.environment.chain.next_time() if finalizes_at else 0
        text = f"{left:,} seconds left to answer the challenge" if left > 0 else "Playing"
        if self.absent is not None and not finalizes_at:
            now = asyncio.get_running_loop().time()
            patience = max(0, round(max(each.patience.left(now) for each in self._present)))
            text = f"{self._others_of(self.absent)} waits for {self.absent.name}: {patience} more seconds"
        self.environment.output.status(text)

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
                if signed.state.turn_num >= 2 * self.agreement.count:
                    player.look_at(signed.state)
            case Mined(submission, receipt):
                operation = operation_name(submission)
                if self.environment.charge(self.environment.keys[player.seat].address, receipt, operation):
                    output.transaction(player.name, _DONE[operation], receipt.gas_used)
                if isinstance(submission, SubmitChallenge):
                    self.challenger = self.challenger or player
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
        self.signed.append(signed)
        self._save(signed)
        self.environment.output.turn(self.game, seat, signed.state, self.agreement.count)

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
        total = self.agreement.fixed_part.total_of(self._asset)
        holdings = self.adjudicator.holdings_of(self.agreement.channel_id, self._asset, total)
        is_closed = holdings.closed and holdings.amount == 0
        if is_closed:
            self.environment.forget(self.agreement.channel_id)
        transactions = tuple(self.environment.spent[self._first_transaction :])
        result = ScenarioResult(
            self.game.name,
            scenario,
            self.agreement,
            self.environment.stake,
            tuple(self._check(each.seat, outcome, transactions) for each in self.players),
            transactions,
            as_expected,
            is_closed,
        )
        self.environment.output.result(result)
        return result

    def _check(self, seat: int, outcome: Outcome, transactions: tuple[TransactionJson, ...]) -> BalanceCheck:
        address = self.environment.keys[seat].address
        return BalanceCheck(
            self.players[seat].name,
            address,
            self._asset,
            self._before[seat],
            deposit=self.agreement.deposits[0][1][seat],
            due=outcome[seat].amount,
            gas_cost=gas_cost_of(address, transactions),
            found=self.environment.balance(address, self._asset),
        )

    @property
    def last(self) -> VariablePart:
        """The state of the highest turn that anybody has signed."""
        return max((signed.state for signed in self.signed), key=lambda state: state.turn_num)
