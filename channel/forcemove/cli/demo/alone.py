"""One person plays a channel game against bots: a real channel, on a chain inside this process that ends with it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from forcemove.arena.network import MemoryMessenger
from forcemove.chain.local import EmbeddedChain, deploy_locally, local_keys
from forcemove.cli.play.screen import PutAside
from forcemove.cli.play.seats import PersonSeat
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.terminal import Terminal
from forcemove.demo.environment import MAX_COST, DemoEnvironment
from forcemove.demo.names import NAMES
from forcemove.demo.output import DemoOutput
from forcemove.game import Game, Level
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.codec.json_text import hex_text
from forcemove.sessions.playing.counted_bot import choose_rounds
from forcemove.sessions.playing.ends import end_lines
from forcemove.sessions.playing.played_channel import PlayedChannel, run_with_background
from forcemove.text.amounts import format_amount
from forcemove.text.situation.headline import names_for

_ROUNDS = 1000
"""Rounds after which the bots leave: more than a person plays."""
_PERSON = 0
"""The person's seat."""
_STEP_EVERY = 0.05
_ASIDE = "you leave the table, and the chain in this process is gone."


def play_alone(game: Game, seats: int, stake: int, duration: int, level: Level, terminal: Terminal) -> None:
    """Let a person play seat 0 against bots, until all have left. Raises `PutAside` where the person leaves before the
    end.

    - `game`: the game to play.
    - `seats`: the number of players.
    - `stake`: of a round, in wei.
    - `duration`: of a challenge, in seconds.
    - `level`: how well the bots play.
    - `terminal`: where is printed what comes before and after the screen, and everything where there is no screen.
    """
    terminal.say(game.title, "bold")
    terminal.status("Bringing up the chain")
    chain, names = EmbeddedChain(), NAMES[:seats]
    environment = DemoEnvironment(
        chain, local_keys()[:seats], DemoOutput(terminal.say, terminal.status), stake, duration
    )
    environment.deployment = deploy_locally(chain, [game])
    bots = " and ".join(names[1:])
    terminal.say(f"You are {names[_PERSON]}, and play against {bots}, in a channel on a chain in this process.")
    deposit = format_amount(environment.deposit)
    terminal.say(f"A round is for {format_amount(stake)}; each pays in {deposit}. The money is worth nothing.")
    terminal.close()
    run_until_terminated(_play(game, environment, level, terminal))


async def _play(game: Game, environment: DemoEnvironment, level: Level, terminal: Terminal) -> None:
    keys, seats = environment.keys, len(environment.keys)
    assembly, lines = environment.assemble(game, seats), MemoryMessenger.table(seats)
    before = [environment.chain.balance(key.address) for key in keys]
    seat = PersonSeat(game, _left, _ASIDE, terminal)
    match = PlayedChannel(game, seat.choose, math.inf, seat.output, NAMES[:seats])
    join = environment.player(_PERSON).join
    driven = [join(assembly, lines[_PERSON], match.answer, on_event=match.on_event, max_cost=MAX_COST)]
    for at in range(1, seats):
        bot = choose_rounds(game, at, _ROUNDS, level=lambda: level)
        driven.append(environment.player(at).join(assembly, lines[at], bot, max_cost=MAX_COST))
    seat.attach(driven[_PERSON], match.names, match.move_clock)
    playing = match.until(lambda: all(each.is_done for each in driven), driven[_PERSON])
    await run_with_background(playing, _drive(environment), seat.run())
    _report_end(environment, driven[_PERSON], match, before, terminal)


async def _drive(environment: DemoEnvironment) -> None:
    """Poll the nodes until this is cancelled; the chain answers at once."""
    while True:
        for player in environment.players.values():
            player.poll()
        await asyncio.sleep(_STEP_EVERY)


def _left() -> PutAside:
    return PutAside(
        "You have left the table, and the chain in this process is gone.",
        "Its money was worth nothing: nothing is lost. Type leave to end a game and be paid.",
    )


def _report_end(
    environment: DemoEnvironment,
    driven: ManagedChannel,
    match: PlayedChannel,
    before: Sequence[int],
    terminal: Terminal,
) -> None:
    """Show how the game has ended. `before`: the balances of the players before their deposits, in wei."""
    result = match.end_observer.of(driven.channel, driven.time())
    for line in end_lines(result, _PERSON, match.end_observer, match.names, match.score):
        terminal.say(line)
    for number, name in enumerate(names_for(_PERSON, match.names)):
        heading, after = "" if number else "balance", environment.chain.balance(environment.keys[number].address)
        terminal.say(f"{heading:<12}{name}: {format_amount(before[number])} before, {format_amount(after)} now")
    terminal.say(f"channel     {hex_text(driven.id)}")
