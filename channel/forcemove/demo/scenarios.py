"""The scenarios of a demonstration. Each plays one channel to its end and compares the balances with the expected ones.

Honest games have as many players as the game allows. The disputes are for two: one of them does wrong, and the other
defends itself.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from os.path import relpath
from typing import Any

from forcemove.arena.tricks import old_proof, signed_by
from forcemove.demo.environment import DemoEnvironment
from forcemove.demo.results import ScenarioResult
from forcemove.demo.table import DemoPlayer, DemoTable
from forcemove.errors import RuleError
from forcemove.game import Level
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.codec.wire import encode_message
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import Outcome, SignedState, VariablePart

Scenario = Callable[[DemoTable], Coroutine[Any, Any, ScenarioResult]]
"""Plays the channel of a new table to its end."""

_WEARY_TURN = 40
"""The turn from which on a dispute begins in a game that has no loser yet."""
_CARELESS = 1
"""The seat of the player that does wrong."""
_ILLEGAL_MOVES = 4
"""How many of a game's illegal moves are tried."""


async def honest(table: DemoTable) -> ScenarioResult:
    """All play a few rounds and conclude together."""
    await table.play(lambda: table.is_paid)
    return table.settle("honest", table.last.outcome)


async def stall(table: DemoTable) -> ScenarioResult:
    """One player stops in a lost position, or after a while where nobody loses; the other challenges, and collects when
    the clock has run out."""
    _let_one_be_careless(table)
    for player in table.players:
        player.leaves, player.stops = never, _gives_up(player)
    await table.play(lambda: any(player.is_waiting for player in table.players))
    silent = next(player for player in table.players if player.is_waiting)
    has_lost = silent.bot.is_lost(silent.newest.state)
    why = "has lost this round, and" if has_lost else "has had enough of it, and"
    table.say(f"{silent.name} {why} stops answering.")
    table.absent = silent
    outcome = await let_the_time_pass(table)
    table.say("Nobody answered in time: the outcome of the challenged state was paid out.")
    return table.settle("stall", outcome)


async def stale_state(table: DemoTable) -> ScenarioResult:
    """The player that is behind challenges with an old state; the other's client checkpoints the newest by itself."""
    _let_one_be_careless(table)
    for player in table.players:
        player.leaves, player.stops = never, _is_decided(table)
    await table.play(lambda: all(player.is_waiting for player in table.players))
    newest = table.last
    behind = min(table.players, key=lambda player: newest.outcome[player.seat].amount)
    why = "is behind, and" if _has_loser(newest) else "has second thoughts, and"
    table.say(f"{behind.name} {why} goes back to an old state.")
    _challenge_with_old(table, behind)
    table.absent = behind  # whose own client would checkpoint, too
    await table.play(lambda: not table.status.finalizes_at)
    table.absent, recorded = None, table.status.turn_num_record
    table.say(f"The newest state (turn {recorded}) is recorded, no clock runs; they conclude.")
    for player in table.players:
        player.managed.feed(ConcludeWanted())
    await table.play(lambda: table.is_paid)
    return table.settle("stale-state", newest.outcome, as_expected=recorded == newest.turn_num)


async def cheat(table: DemoTable) -> ScenarioResult:
    """One sends illegal moves and forged signatures, tries the chain with them, and withholds a move. In vain."""
    honest_player, cheater = table.players
    cheater.stops = lambda _: True
    await table.play(lambda: cheater.is_waiting)
    table.say(f"{cheater.name} tries illegal moves, here and on the chain.")
    state = table.last
    moves = table.game.illegal_moves(state)
    some = moves[:: max(1, len(moves) // _ILLEGAL_MOVES)][:_ILLEGAL_MOVES]
    tried = [try_illegal(table, *move) for move in some]
    table.say(f"{cheater.name} forges {honest_player.name}'s signature.")
    table.attempt = "sends a final state with a forged signature"
    final = VariablePart(state.outcome, b"", state.turn_num + 1, True)
    forged = signed_by(table.agreement, table.environment.keys[_CARELESS], final, range(table.agreement.count))
    refused = _is_refused_by_client(table, forged) and all(tried)
    table.say(f"{cheater.name} makes a legal move, but tells only the chain.")
    table.absent = honest_player
    _withhold(cheater)
    await table.play(lambda: table.challenger is cheater)
    table.absent = cheater
    await table.play(lambda: _has_answered(honest_player, state.turn_num + 1))
    table.absent, cheater.stops = None, never
    cheater.is_waiting = cheater.end.is_withholding = False
    table.say(f"{honest_player.name}'s client found the move in the chain's log and answered; they play on.")
    await table.play(lambda: table.is_paid)
    return table.settle("cheat", table.last.outcome, as_expected=refused)


SCENARIOS: dict[str, Scenario] = {"honest": honest, "stall": stall, "stale-state": stale_state, "cheat": cheat}
"""The scenarios by name."""


async def bring_home(environment: DemoEnvironment, left: JournalChannel) -> None:
    """Conclude a channel that an earlier run has left. It stays in the journals where that fails, and where it is of
    another chain. Raises what the chain and the clients raise."""
    say, chain = environment.output.say, environment.chain
    game, asset = left.require_game(), left.channel.agreement.fixed_part.asset
    environment.output.title(f"Left over from an earlier run: a channel of {game.name}")
    if left.elsewhere(chain):
        where = relpath(environment.journals[0].where)
        say(f"It is of another chain with the same id, and waits for that chain in {where}.")
        return
    table = DemoTable(environment, game, left.assembly(chain, environment.others))
    if table.adjudicator.holdings_of(left.id, asset, left.channel.agreement.fixed_part.total).amount:
        say(f"The money in channel {hex_text(left.id)} is brought home.")
        for player in table.players:
            player.managed.feed(ConcludeWanted())
        await table.play(lambda: table.is_paid)
        say("The channel is closed, and all are paid.")
    else:
        say("Nothing is locked in it: it is given up.")
    environment.forget(left.id)


# --------------------------------------------------------------------------------------------------------- their parts


def never(_: VariablePart) -> bool:
    """No state is one at which a player leaves."""
    return False


def _let_one_be_careless(table: DemoTable) -> None:
    table.players[_CARELESS].bot = table.game.bot(_CARELESS, level=Level.EASY)


def _gives_up(player: DemoPlayer) -> Callable[[VariablePart], bool]:
    """Whether the player leaves a state unanswered. In games that nobody loses, the careless one leaves after a
    while."""

    def gives_up(state: VariablePart) -> bool:
        is_weary = player.seat == _CARELESS and player.is_next(state) and state.turn_num >= _WEARY_TURN
        return is_weary or player.bot.is_lost(state)

    return gives_up


async def let_the_time_pass(table: DemoTable) -> Outcome:
    """Wait until who waits for a silent player challenges, show the seconds that this leaves, move the clock to their
    end where that is possible, and wait until all is paid. Returns the outcome of the challenged state."""
    environment = table.environment
    await table.play(lambda: table.challenger is not None)
    challenger = table.challenger
    if challenger is None:
        raise RuntimeError("nobody has challenged")
    end = table.status.finalizes_at
    seconds = end - environment.chain.now()
    table.say(f"{table.players[1 - challenger.seat].name} has {seconds} seconds to answer.")
    if environment.chain.can_travel:
        environment.chain.travel_to(end)
        table.say("(This chain's clock can be moved, so nobody waits.)")
    await table.play(lambda: table.is_paid)
    return challenger.newest.state.outcome


def _is_decided(table: DemoTable) -> Callable[[VariablePart], bool]:
    """Whether a player is behind, or nobody is after a while, and the mover may leave: no round is running."""

    def is_decided(state: VariablePart) -> bool:
        mover = table.players[(state.turn_num + 1) % len(table.players)]
        is_enough = _has_loser(state) or state.turn_num >= _WEARY_TURN
        return is_enough and mover.bot.move(state, another_round=False) is None

    return is_decided


def _has_loser(state: VariablePart) -> bool:
    return len({entry.amount for entry in state.outcome}) > 1


def _challenge_with_old(table: DemoTable, player: DemoPlayer) -> None:
    """A challenge that none of our clients would send, with the old state that pays the player most."""
    key, environment, agreement = table.environment.keys[player.seat], table.environment, table.agreement
    signed = {each.state.turn_num: each for each in table.signed}
    proof = old_proof(agreement, signed, above=-1, below=table.last.turn_num, cheat=player.seat)
    if proof is None:
        raise RuntimeError("there is no old state")
    receipt = table.adjudicator.send(table.adjudicator.challenge(agreement.fixed_part, proof), key)
    environment.charge(key.address, receipt, "challenge")
    environment.output.transaction(player.name, "challenges with an old state", receipt.gas_used)


def try_illegal(table: DemoTable, label: str, move: VariablePart) -> bool:
    """Send an illegal move to the other player, and to the chain; whether both refuse it."""
    key, previous = table.environment.keys[_CARELESS], table.players[0].newest
    signed = signed_by(table.agreement, key, move, [_CARELESS])
    table.attempt = f"sends a move that {label}"
    there = _is_refused_by_client(table, signed)
    try:
        proof = build_support_proof(table.agreement.fixed_part, [previous, signed])
        if proof is None:
            raise RuntimeError("a signature is missing")
        table.adjudicator.simulate(table.adjudicator.challenge(table.agreement.fixed_part, proof), key.address)
    except RuleError as error:
        table.environment.output.refused(table.players[_CARELESS].name, "gives it to the chain", error)
        return there
    return False


def _is_refused_by_client(table: DemoTable, signed: SignedState) -> bool:
    """Whether the honest player's client finds the fault of a state that it is sent, and does not change."""
    player = table.players[0]
    before, faults = player.managed.channel, len(player.refusals)
    table.players[_CARELESS].end.inject(encode_message(table.agreement.channel_id, signed))
    player.node.poll()
    return player.managed.channel == before and len(player.refusals) == faults + 1


def _withhold(cheater: DemoPlayer) -> None:
    """The cheat moves, sends the state to nobody, and challenges with it."""
    decision = cheater.decide(cheater.question)
    if not isinstance(decision, MoveChosen):
        raise RuntimeError("the game is over already")
    cheater.end.is_withholding = True
    cheater.managed.feed(decision)
    cheater.node.step()
    cheater.managed.feed(ChallengeWanted())


def _has_answered(player: DemoPlayer, turn_num: int) -> bool:
    """Whether a player has moved after this turn, and its client sees no clock running any more."""
    channel = player.managed.channel
    return channel.next_turn > turn_num + 1 and not channel.status.finalizes_at
