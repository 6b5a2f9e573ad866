"""The cost of leaving: the stake that is lost in a running round. Pure."""

from __future__ import annotations

import secrets

from forcemove.errors import ForcemoveError
from forcemove.game import Game, Randomness
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.types import VariablePart

_TWO = 2


class Leaving:
    """Remembers a player's balance from before the running round."""

    def __init__(self, game: Game, randomness: Randomness = secrets.token_bytes) -> None:
        self._game, self._randomness = game, randomness
        self._before: VariablePart | None = None

    def observe(self, state: VariablePart) -> None:
        """Note a state of the channel, newer than those before."""
        if self._is_between(state):
            self._before = state

    def cost(self, channel: Channel) -> int:
        """The most that we lose by leaving with our next turn, in the smallest unit: what the other has taken in the
        round by then, and could be won back by playing on. 0 where no round is running then, or nothing is at stake."""
        newest = channel.newest
        if channel.agreement.is_friendly or newest is None:
            return 0
        if self._before is None and self._is_between(newest.state):
            self._before = newest.state
        if channel.is_our_turn:
            return self._cost_after(newest.state, channel.index)
        if channel.agreement.count > _TWO:
            return self._stake(newest.state)
        try:
            choices = self._game.choices(newest.state, self._randomness, b"")
        except ForcemoveError:  # only the mover knows its choices
            return 0 if self._ends_next(newest.state) else self._stake(newest.state)
        before = newest.state if self._is_between(newest.state) else None
        nexts = [each.move.after(newest.state) for each in choices]
        return max((self._cost_after(each, channel.index, before) for each in nexts), default=0)

    def _ends_next(self, state: VariablePart) -> bool:
        """Whether each move after this state ends the round, as where the mover can only reveal what it has chosen: the
        game's first position may follow each."""
        table, kind = self._game.table, self._game.position(state)["type"]
        begins = table[0].from_type
        ends = {row.from_type for row in table if row.to_type is begins}
        return all(row.to_type in ends for row in table if row.from_type.label == kind)

    def _cost_after(self, state: VariablePart, index: int, before: VariablePart | None = None) -> int:
        """The cost if we leave in answer to this state."""
        if self._is_between(state):
            return 0
        before = before or self._before
        if before is None:  # the round began before this run
            return self._stake(state)
        return max(0, before.outcome[index].amount - state.outcome[index].amount)

    def _stake(self, state: VariablePart) -> int:
        return 0 if self._is_between(state) else self._game.stake_of(state.app_data)

    def _is_between(self, state: VariablePart) -> bool:
        """Whether no round is running: the mover would leave, if it wanted no other."""
        if state.is_final:
            return True
        mover = (state.turn_num + 1) % len(state.outcome)
        try:
            return self._game.bot(mover, self._randomness).move(state, another_round=False) is None
        except ForcemoveError:  # the bot lacks a secret of the running round
            return False
