"""One person plays a channel game against bots: a real channel, on a chain inside this process that ends with it."""

from __future__ import annotations

import asyncio
import math
import secrets
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from forcemove.chain.deployment import deploy
from forcemove.chain.local import EmbeddedChain, local_keys
from forcemove.cli.demo.output import NAMES
from forcemove.cli.match.screen import PutAside
from forcemove.cli.match.seats import PersonSeat
from forcemove.cli.play.signals import run_until_terminated
from forcemove.cli.terminal import Terminal
from forcemove.game import Game
from forcemove.node.assemble import Assembly, assemble
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.memory import MemoryMessenger
from forcemove.node.node import Node
from forcemove.node.setup import ChannelSetup
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.codec.json_text import hex_text
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH
from forcemove.tables.playing.content import names_for
from forcemove.tables.playing.ends import end_lines
from forcemove.tables.playing.match import Match, run_with_background
from forcemove.tables.playing.rounds import choose_rounds
from forcemove.text.amounts import format_amount

__all__ = ["play_alone"]

_ROUNDS = 1000
"""Rounds after which the bots leave: more than a person plays."""
_PERSON = 0
"""The person's seat."""
_MOST = 10**17
"""The highest cost of one transaction's gas, in wei, however little is at stake."""
_STEP_EVERY = 0.05
_ASIDE = "you leave the table, and the chain in this process is gone."


@dataclass(frozen=True)
class _LocalVenue:
    """`nodes`, and the channels that they drive, by seat. `before`: the players' balances before their deposits, in
    wei."""

    chain: EmbeddedChain
    assembly: Assembly
    nodes: tuple[Node, ...]
    before: tuple[int, ...]

    @property
    def addresses(self) -> tuple[bytes, ...]:
        """The players' addresses."""
        return self.assembly.agreement.fixed_part.participants

    async def drive(self) -> None:
        """Poll the nodes until this is cancelled; the chain answers at once."""
        while True:
            for node in self.nodes:
                node.poll()
            await asyncio.sleep(_STEP_EVERY)


def play_alone(game: Game, seats: int, stake: int, duration: int, terminal: Terminal) -> None:
    """Let a person play seat 0 against bots, until all have left. Raises `PutAside` where the person leaves before the
    end.

    - `game`: the game to play.
    - `seats`: the number of players.
    - `stake`: of a round, in wei.
    - `duration`: of a challenge, in seconds.
    - `terminal`: where is printed what comes before and after the screen, and everything where there is no screen.
    """
    terminal.say(game.title, "bold")
    terminal.status("Bringing up the chain")
    with ExitStack() as stack:
        venue = _venue(game, seats, stake, duration, stack)
        names = NAMES[:seats]
        bots = " and ".join(names[1:])
        terminal.say(f"You are {names[_PERSON]}, and play against {bots}, in a channel on a chain in this process.")
        deposit = format_amount(stake * DEPOSIT_IN_STAKES)
        terminal.say(f"A round is for {format_amount(stake)}; each pays in {deposit}. The money is worth nothing.")
        terminal.close()
        run_until_terminated(_play(game, venue, terminal))


def _venue(game: Game, seats: int, stake: int, duration: int, stack: ExitStack) -> _LocalVenue:
    chain, keys = EmbeddedChain(), local_keys()
    with tempfile.TemporaryDirectory() as folder:
        book = deploy(chain, keys[-1], Path(folder) / "book.json", [game])
    addresses = [key.address for key in keys[:seats]]
    deposit = stake * DEPOSIT_IN_STAKES
    assembly = assemble(chain, book, game, addresses, stake=stake, deposit=deposit, duration=duration)
    journals = [stack.enter_context(open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH))) for _ in addresses]
    before = tuple(map(chain.balance, addresses))
    return _LocalVenue(chain, assembly, tuple(Node(each, policy=None, on_error=_fail) for each in journals), before)


def _fail(error: Exception) -> None:
    """Raise an error of a node: on a chain of our own none passes."""
    raise error


async def _play(game: Game, venue: _LocalVenue, terminal: Terminal) -> None:
    seats, keys, lines = len(venue.nodes), local_keys(), MemoryMessenger.table(len(venue.nodes))
    is_seen = sys.stdin.isatty() and sys.stdout.isatty()
    seat = PersonSeat(game, _left, _ASIDE, None if is_seen else terminal)
    match = Match(game, seat.choose, math.inf, seat.output, NAMES[:seats])
    person, *bots = venue.nodes
    driven = person.add(
        ChannelSetup(
            venue.assembly, keys[_PERSON], lines[_PERSON], match.answer, on_event=match.on_event, max_cost=_MOST
        )
    )
    others = [
        node.add(
            ChannelSetup(venue.assembly, keys[at], lines[at], choose_rounds(game, at, _ROUNDS, seats), max_cost=_MOST)
        )
        for at, node in enumerate(bots, 1)
    ]
    seat.attach(driven)
    await run_with_background(match.until(lambda: _are_over([driven, *others]), driven), venue.drive(), seat.run())
    _report_end(venue, driven, match, terminal)


def _left() -> PutAside:
    return PutAside(
        "You have left the table, and the chain in this process is gone.",
        "Its money was worth nothing: nothing is lost. Type leave to end a game and be paid.",
    )


def _are_over(driven: list[ManagedChannel]) -> bool:
    return all(each.channel.is_over_and_paid and not each.client.has_work for each in driven)


def _report_end(venue: _LocalVenue, driven: ManagedChannel, match: Match, terminal: Terminal) -> None:
    names = NAMES[: len(venue.nodes)]
    result = match.end_observer.of(driven.channel, driven.time())
    for line in end_lines(result, _PERSON, match.end_observer, names):
        terminal.say(line)
    balances = zip(names_for(_PERSON, names), venue.before, venue.addresses, strict=True)
    for number, (name, before, address) in enumerate(balances):
        heading = "" if number else "balance"
        after = venue.chain.balance(address)
        terminal.say(f"{heading:<12}{name}: {format_amount(before)} before, {format_amount(after)} now")
    terminal.say(f"channel     {hex_text(driven.id)}")
