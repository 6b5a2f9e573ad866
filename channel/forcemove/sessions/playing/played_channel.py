"""One channel, played to its end: shows what happens, and lets the chain decide where nothing happens."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from forcemove.errors import ForcemoveError
from forcemove.flow.channel import is_stuck
from forcemove.game import Game, Names, PlayerChecked
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import CHALLENGE, overview
from forcemove.history.tokens import Tokens
from forcemove.node.events import CounterpartyFault, Event, Mined, Received, Sent, SubmissionRefused
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.policy import usual_gas
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.effects import ChooseMove, operation_name
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.machine.results import is_unpaid
from forcemove.protocol.types import VariablePart
from forcemove.rounds import GAME_OVER, UNASKED, RoundCount, position_line, score_line
from forcemove.sessions.chat import TableChat
from forcemove.sessions.errors import GuestMissing
from forcemove.sessions.playing.content import NAMES, balances, content_of
from forcemove.sessions.playing.ends import EndObserver, race_text
from forcemove.sessions.playing.patience import BEGINNING, MoveClock, Patience
from forcemove.sessions.ports import Output
from forcemove.text.explanations import headline
from forcemove.text.situation.headline import state_before
from forcemove.text.situation.moment import Moment, gas_text

_POLL_SECONDS = 0.25
_FAULTS_SHOWN = 20
"""Counterparties' faults that are shown: they can send as many as they like, and nobody could read anything else."""


class PlayedChannel:
    """Shows one channel to its player. `warning`: a line for the player. `fatal_error`: an error that trying again does
    not mend; it ends the match. `end_observer`: what is known of the channel's end. `names`: the players', by seat.
    `chat`: of the table, once there is one; `move_clock`: of the mover."""

    def __init__(
        self,
        game: Game,
        choose: Callable[[ChooseMove], MoveChosen | ConcludeWanted | None],
        patience: float,
        output: Output,
        names: Names = NAMES,
        *,
        move_time: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show a channel of `game`.

        - `game`: the game that the channel plays.
        - `choose`: the player's decision on a move; None where it comes later.
        - `patience`: seconds that a counterparty may be silent before it is challenged; it may be infinite.
        - `output`: where the match is shown.
        - `names`: of the players, by seat.
        - `move_time`: seconds that each has for a move, see `Patience`.
        - `clock`: seconds that do not go back.
        """
        self.warning = ""
        self.fatal_error: Exception | None = None
        self._game, self._choose, self._output = game, choose, output
        self.names = names
        self._shown, self._said, self._faults = -1, "", 0
        self._rounds = RoundCount(game)
        self._played: ManagedChannel | None = None
        self._now, self._patience = clock, Patience(patience, clock(), move_time)
        self.move_clock = MoveClock(move_time, self._move_left)
        self.end_observer = EndObserver()
        self.chat: TableChat | None = None

    @property
    def score(self) -> str:
        """How many rounds each has won; empty before the first is over."""
        return score_line(self._rounds.results, self.names, self._viewer)

    @property
    def _viewer(self) -> int | None:
        """Our seat; None before the channel is driven."""
        return None if self._played is None else self._played.channel.index

    @property
    def tokens(self) -> Tokens:
        """What the channel's tokens say of themselves, as far as that is known."""
        return () if self._played is None else self._played.tokens

    # -------------------------------------------------------------------------------------------------------- waiting

    async def until(self, is_over: Callable[[], bool], played: ManagedChannel) -> None:
        """Show the channel until it is over. Raises `fatal_error`, and `GuestMissing`."""
        self._played = played
        self._count_earlier(played)
        while not is_over():
            self.look(played)
            await asyncio.sleep(_POLL_SECONDS)
        self.end_observer.observe(played.time())

    def look(self, played: ManagedChannel) -> None:
        """Show the channel as it is now, and challenge where it has kept us waiting for too long. Raises as `until`."""
        self._played = played
        self.end_observer.observe(played.time())
        if self.fatal_error is not None:
            raise self.fatal_error
        self._press(played)
        if self.chat is not None:
            self.chat.show_presence()
        self._show_content()

    def _count_earlier(self, played: ManagedChannel) -> None:
        """Count the rounds that were over when this run began. A journal that cannot be read for that does not end a
        game."""
        with contextlib.suppress(ForcemoveError):
            self._rounds = RoundCount(self._game, played.history().states)

    def _show_content(self) -> None:
        played = self._played
        if played is None:
            return
        channel, now = played.channel, played.time()
        history, gas = _opening_history(played), self._gas(played)
        moment = Moment(
            self._game,
            channel,
            history,
            overview(channel, history, now, gas=gas),
            now,
            int(time.time()),
            self.names,
            tokens=played.tokens,
            depth=played.depth,
            rounds=self._rounds,
            silences=() if self.chat is None else self.chat.presence.silences(),
            silence_left=self._patience.left(self._now()),
            move_time=self.move_clock.move_time,
            move_left=self.move_clock.left(),
        )
        self._output.show(content_of(moment, channel.secrets, self.warning))

    def _press(self, played: ManagedChannel) -> None:
        """Challenge where nothing has happened for too long. Raises `GuestMissing` where the chain has nothing to
        decide: nobody has paid in."""
        channel, now = played.channel, self._now()
        if not self._patience.is_lost(channel, played.phase, now):
            return
        self._patience.begin(now)
        if played.phase in BEGINNING and is_unpaid(channel):
            raise GuestMissing(played.id, self._patience.seconds)
        if is_stuck(channel, played.phase):
            self._press_on(played)

    def _press_on(self, played: ManagedChannel) -> None:
        channel = played.channel
        if channel.agreement.is_friendly:
            raise GuestMissing(played.id, self._patience.seconds)
        mover, is_moving = self.names[channel.next_turn % len(self.names)], played.phase is Phase.PLAYING
        timed = is_moving and not channel.is_our_turn and self.move_clock.move_time
        why = f"{mover}'s time is out" if timed else f"Nothing was heard for {self._patience.seconds:.0f} seconds"
        self._output.say(f"{why}: a challenge asks the chain ({gas_text(self._gas(played).get(CHALLENGE))}).")
        try:
            played.feed(ChallengeWanted())
        except ForcemoveError as error:
            self._output.note(headline(error))

    def _move_left(self) -> float:
        now, played = self._now(), self._played
        if played is not None:
            self._patience.note(played.channel, played.phase, now)
        return self._patience.move_left(now)

    def _gas(self, played: ManagedChannel) -> Mapping[str, int]:
        return usual_gas(played.channel.agreement, self._game, played.prices)

    # -------------------------------------------------------------------------------------------------------- telling

    def answer(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """The player's answer, once the state that it answers was shown."""
        self._show_state(question.state)
        decided = self._choose(question)
        if isinstance(decided, ConcludeWanted):
            self._say_why(question)
        self._show_content()
        return decided

    def _say_why(self, question: ChooseMove) -> None:
        """Say what is wrong with the newest move, where we leave because of it."""
        game, state = self._game, question.state
        if state.is_final or not isinstance(game, PlayerChecked):
            return
        with contextlib.suppress(ForcemoveError):  # nothing that is said stands between a player and its end
            if objection := game.objection(state, question.secrets):
                mover = self.names[state.turn_num % len(self.names)]
                self._output.say(f"You leave, with what the balances are now: {mover} {objection}.")

    def on_event(self, event: Event) -> None:
        """Show an event of the channel."""
        if self._played is not None:
            self.end_observer.observe(self._played.time())
        if isinstance(event, Sent | Received) and self.chat is not None:
            self.chat.note_state(event.signed.state.turn_num % len(self.names))
        match event:
            case Sent(signed):
                self._show_state(signed.state)
            case Received(signed) if len(self.names) > len(NAMES):  # of two, one is asked for an answer to it
                self._show_state(signed.state)
            case Mined(submission, receipt):
                self.end_observer.add(event)
                what = operation_name(submission)
                self._output.say(f"chain       {what}: in block {receipt.block_number:,}, {receipt.gas_used:,} gas")
            case SubmissionRefused(_, error):
                self.end_observer.add(event)
                race = race_text(event)
                if race is not None:
                    self._output.say(race)
                else:
                    self._output.note(headline(error))
            case CounterpartyFault(error):
                self._show_fault(error)

    def _show_fault(self, error: ForcemoveError) -> None:
        self._faults += 1
        if self._faults <= _FAULTS_SHOWN:
            self._output.note(headline(error))
        if self._faults == _FAULTS_SHOWN:
            self._output.note("More of what others send wrong is not shown; the journal has the newest.")

    def _show_state(self, state: VariablePart) -> None:
        """Show each turn of the game once, and none of the opening."""
        if state.turn_num <= max(self._shown, 2 * len(self.names) - 1):
            return
        self._shown = state.turn_num
        is_over = self._rounds.add(state) is not None
        self._show_content()
        before = None if self._played is None else state_before(self._played.channel, state)
        what = position_line(self._game, before, state, self.names, self._viewer)
        if what != self._said or not what.endswith(UNASKED):
            self._output.say(f"turn {state.turn_num:>4}   {self._ending(state) if state.is_final else what}")
        self._said = what
        if is_over:
            self._output.say(f"score       {self.score}")
        if is_over and any(each.amount for each in state.outcome):
            self._output.say(f"balances    {balances(state.outcome, self.names, self.tokens)}")

    def _ending(self, state: VariablePart) -> str:
        """The text of a final state. Of two players each knows who has left."""
        if len(self.names) == len(NAMES):
            return GAME_OVER
        return f"{self.names[state.turn_num % len(self.names)]} has left, and the game is over."


def _opening_history(played: ManagedChannel) -> ChannelHistory:
    """What the screen says of a channel's history: how deep our deposit is. A journal that cannot be read for
    that does not end a game."""
    if played.phase in BEGINNING:
        with contextlib.suppress(ForcemoveError):
            return played.history()
    return ChannelHistory()


async def run_with_background(main: Coroutine[Any, Any, None], *others: Coroutine[Any, Any, None]) -> None:
    """Run `main` to its end together with the other coroutines, which are cancelled then; raises the first error of
    any."""
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
