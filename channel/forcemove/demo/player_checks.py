"""Scenarios of games with moves that only players can judge: one cheats with what only a player has, and is caught by
the contract, or by the other player where the contract sees nothing. Each says in a line what that has cost.
"""

from __future__ import annotations

from secrets import token_bytes

from forcemove.demo.results import ScenarioResult
from forcemove.demo.scenarios import Scenario, let_the_time_pass, never, try_illegal
from forcemove.demo.table import DemoPlayer, DemoTable
from forcemove.game import FalseMove, Game, PlayerChecked
from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
from forcemove.protocol.types import VariablePart


async def bad_share(table: DemoTable) -> ScenarioResult:
    """One sends a move that only a player could forge, with a wrong share of a card. Client and contract refuse it, and
    it is as if nothing had been sent: the other challenges, and collects the stake when the clock has run out."""
    honest, cheat = table.players
    honest.leaves = cheat.leaves = never
    cheat.stops = lambda state: cheat.is_next(state) and bool(_only_with_secrets(table.game, cheat, state))
    await table.play(lambda: cheat.is_waiting)
    label, move = _only_with_secrets(table.game, cheat, cheat.newest.state)[-1]
    refused = try_illegal(table, label, move)
    table.absent = cheat
    result = table.settle("bad-share", await let_the_time_pass(table), as_expected=refused)
    table.say(
        f"Caught by the contract, and by {honest.name}'s client before: the share had no proof that holds. It cost "
        f"{cheat.name} what was at stake; {honest.name} has paid the gas of a challenge."
    )
    return result


async def bad_shuffle(table: DemoTable) -> ScenarioResult:
    """One sends a shuffle that is none, which the contract lets pass. The other's player checks it, leaves with a final
    state, and loses nothing: no stake is taken before both have checked."""
    honest, cheat = table.players
    cheat.stops = lambda state: cheat.is_next(state) and bool(_false(table.game, cheat, state))
    await table.play(lambda: cheat.is_waiting)
    lie, *_ = _false(table.game, cheat, cheat.newest.state)
    table.say(f"{cheat.name} {lie.label}.")
    cheat.managed.feed(MoveChosen(*lie.move, secrets=lie.secrets))
    cheat.managed.feed(ConcludeWanted())
    await table.play(lambda: table.is_paid)
    last = table.last.outcome
    is_whole = all(entry.amount == table.environment.deposit for entry in last)
    result = table.settle("bad-shuffle", last, as_expected=is_whole)
    table.say(
        f"Caught by {honest.name}'s player, not by the contract, which lets it pass: {cheat.name} {_reason(table)}. It "
        f"cost nobody a stake; {honest.name} has paid {result.gas_used(result.players[honest.seat]):,} gas."
    )
    return result


CHECKED_SCENARIOS: dict[str, Scenario] = {"bad-share": bad_share, "bad-shuffle": bad_shuffle}
"""The scenarios by name: each is for a game that is a `PlayerChecked`."""


def _only_with_secrets(game: Game, player: DemoPlayer, state: VariablePart) -> list[tuple[str, VariablePart]]:
    """The illegal moves that nobody but this player could try."""
    public = {label for label, _ in game.illegal_moves(state)}
    return [each for each in game.illegal_moves(state, player.bot.secrets()) if each[0] not in public]


def _false(game: Game, player: DemoPlayer, state: VariablePart) -> list[FalseMove]:
    """The false moves that the next player sees at once."""
    if not isinstance(game, PlayerChecked) or state.is_final:
        return []
    return [each for each in game.false_moves(state, token_bytes, player.bot.secrets()) if each.is_seen]


def _reason(table: DemoTable) -> str:
    """What the honest player has found wrong."""
    game, honest = table.game, table.players[0]
    played = [signed.state for signed in table.signed if not signed.state.is_final]
    newest = max(played, key=lambda state: state.turn_num)
    return game.objection(newest, honest.bot.secrets()) if isinstance(game, PlayerChecked) else ""
