"""The scenarios between two processes: in each one a process is killed in the middle, and the balances are checked at
the end. The attacks are those of a player whose program is another one: they are made with that player's key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from forcemove.arena.balances import BalanceCheck
from forcemove.arena.tricks import illegal_move
from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.chain import Chain
from forcemove.demo.names import NAMES as ALL_NAMES
from forcemove.demo.network.local_network import DemoNetwork, channel_of
from forcemove.demo.network.players import PlayerFailed, PlayerProcess
from forcemove.game import Game
from forcemove.keys.key_files import new_key
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.signing import Key
from forcemove.protocol.types import ETHER, Outcome
from forcemove.text.amounts import exact_amount, format_amount
from forcemove.transport.connect import connect_relay
from forcemove.transport.links import LINK_HEAD
from forcemove.transport.terms import TableKind, TableTerms


def challenge_with(chain: Chain, key: Key, old: Channel) -> int:
    """Challenge with the newest state that `old` can prove; its turn number. `key`: of the account that pays the
    gas."""
    agreement = old.agreement
    proof = build_support_proof(agreement.fixed_part, old.signed_states)
    if proof is None:
        raise PlayerFailed("There is no old state to challenge with")
    adjudicator = Adjudicator(chain, agreement.domain.adjudicator)
    adjudicator.send(adjudicator.challenge(agreement.fixed_part, proof), key)
    return proof.states[-1].turn_num


async def say_something_illegal(relay: str, key: Key, game: Game, other: Channel) -> str:
    """Sign a move that the rules forbid, after the newest state that the other player has, and send it to that player;
    what is wrong with it. `relay`: the relay's URL; `key`: the mover's."""
    agreement, newest = other.agreement, other.newest
    if newest is None:
        raise PlayerFailed("Play has not begun")
    found = illegal_move(game, agreement, key, newest.state)
    if found is None:
        raise PlayerFailed("The game has no move that is forbidden now")
    label, message = found
    async with connect_relay(relay) as connection:
        table = TableTerms(TableKind.CHANNEL, agreement.fixed_part.participants, agreement.channel_id)
        log = await connection.join(table, key)
        await asyncio.wait_for(log.post(message), 30)
    return label


# ------------------------------------------------------------------------------------------------------------ scenarios

NAMES = ALL_NAMES[:2]
"""The host, and the guest, who is killed."""
OnLine = Callable[[str, str], None]
_ROUNDS, _PACE = "4", "0.2"
_SHORT, _LONG = "4", "120"
"""Seconds of patience, for a player who does not come back in time, and for one who does."""
_POLL_SECONDS, _POLLS = 0.2, 300


ScenarioEnding = tuple[BalanceCheck, ...]
"""How a scenario has ended, by seat: what the address of a payout has, and what the channel's last state says."""


class ScenarioRun:
    """One channel between two new players."""

    def __init__(self, network: DemoNetwork, game: Game, stake: int, duration: int, on_line: OnLine) -> None:
        """Name the two players; no process is started yet.

        - `network`: the chain, the relay and the watchtower that the players use.
        - `game`: the game to play.
        - `stake`: of a round, in wei.
        - `duration`: of a challenge, in seconds.
        - `on_line`: is called with a player's name and each line of its process, and each comment.
        """
        self.network, self.game, self._stake, self.duration = network, game, stake, duration
        self._on_line = on_line
        self.host, self.guest = (network.player(name, seat, self._printer(name)) for seat, name in enumerate(NAMES))
        self._payouts = [new_key().address for _ in NAMES]
        self._join: tuple[str, ...] = ()
        self._patience = _LONG

    def _printer(self, name: str) -> Callable[[str], None]:
        return lambda line: self._on_line(name, line)

    def comment(self, text: str) -> None:
        """Comment on what is done to Bob, or on what Bob does without his program."""
        self._on_line(NAMES[1], f"\N{EM DASH} {text}")

    async def begin(self, patience: str = _LONG) -> None:
        """Let host and guest find each other, pay in, and play."""
        self._patience = patience
        await self._play(self.host, 0, "--create", "--stake", str(self._stake), "--duration", str(self.duration))
        self._join = ("--join", await self.host.wait_for_output(LINK_HEAD), "--yes")
        await self.go_on()

    async def go_on(self) -> None:
        """Start the guest's command once more."""
        await self._play(self.guest, 1, *self._join)

    async def _play(self, player: PlayerProcess, seat: int, *arguments: str) -> None:
        network = self.network
        where = ("--relay", network.relay, "--chain", network.chain.endpoint, "--book", str(network.book_file))
        who = ("--key", "key.json", "--name", player.name, "--payout", f"0x{self._payouts[seat].hex()}")
        how = ("--bot", "--rounds", _ROUNDS, "--pace", _PACE)
        await player.start("play", self.game.name, *where, *who, *how, "--patience", self._patience, *arguments)

    async def end(self) -> None:
        """Wait for the end of both processes."""
        for player in self.players:
            await player.end()

    async def kill_guest(self, turns: int) -> Channel:
        """Kill the guest once it has printed this many turns; the channel as its journal has it."""
        await self.guest.wait_for_output("turn ", turns)
        await self.guest.kill()
        return channel_of(self.guest)

    async def until_guests_turn(self) -> Channel:
        """Wait until the guest is to move; the channel as the host's journal has it."""
        for _ in range(_POLLS):
            channel = channel_of(self.host)
            if not channel.is_our_turn:
                return channel
            await asyncio.sleep(_POLL_SECONDS)
        raise PlayerFailed("Alice does not move")

    def ending(self, last: Channel) -> ScenarioEnding:
        """What was paid, and what the last state of this channel says."""
        outcome: Outcome = last.newest.state.outcome if last.newest else ()
        return tuple(
            BalanceCheck(name, address, ETHER, 0, 0, entry.amount, 0, self.network.chain.balance(address))
            for name, address, entry in zip(NAMES, self._payouts, outcome, strict=True)
        )

    @property
    def players(self) -> tuple[PlayerProcess, PlayerProcess]:
        """The players' processes, by seat."""
        return self.host, self.guest


async def _honest(run: ScenarioRun) -> ScenarioEnding:
    """A player is killed, comes back, and nothing is lost."""
    await run.begin()
    await run.kill_guest(turns=4)
    await run.go_on()
    await run.end()
    return run.ending(channel_of(run.guest))


async def _stall(run: ScenarioRun) -> ScenarioEnding:
    """A player is killed and stays away: the chain decides, and pays both."""
    await run.begin(_SHORT)
    await run.kill_guest(turns=4)
    await run.host.wait_for_output("challenge: in block")
    last = channel_of(run.host)
    run.comment(f"Bob does not come back: {run.duration:,} seconds pass.")
    run.network.travel(run.duration + 1)
    await run.host.end()
    await run.go_on()
    await run.guest.end()
    return run.ending(last)


async def _stale_state(run: ScenarioRun) -> ScenarioEnding:
    """A player goes back to an old state: the other's program answers with a later one, and play goes on."""
    await run.begin()
    old = await run.kill_guest(turns=4)
    await run.go_on()
    await run.kill_guest(turns=6)
    await run.until_guests_turn()
    turn_num = await asyncio.to_thread(challenge_with, run.network.chain, run.network.keys[old.index], old)
    run.comment(f"Bob challenges with turn {turn_num}, which is old.")
    await run.host.wait_for_output("checkpoint: in block")
    await run.go_on()
    await run.end()
    return run.ending(channel_of(run.host))


async def _cheat(run: ScenarioRun) -> ScenarioEnding:
    """A player signs what the rules forbid: the other's program refuses it, and play goes on."""
    await run.begin()
    await run.kill_guest(turns=4)
    stuck = await run.until_guests_turn()
    label = await say_something_illegal(run.network.relay, run.network.keys[1 - stuck.index], run.game, stuck)
    run.comment(f"Bob signs what is illegal: {label}.")
    await run.host.wait_for_output("counterparty")
    await run.go_on()
    await run.end()
    return run.ending(channel_of(run.host))


SCENARIOS: Mapping[str, Callable[[ScenarioRun], Awaitable[ScenarioEnding]]] = MappingProxyType(
    {"honest": _honest, "stall": _stall, "stale-state": _stale_state, "cheat": _cheat}
)


def ending_line(ending: ScenarioEnding) -> str:
    """The payments, and whether they are right."""
    if all(each.is_right for each in ending):
        return f"paid        {_shares(ending, 'found', format_amount)}: as the last state says."
    found, expected = (_shares(ending, each, exact_amount) for each in ("found", "expected"))
    return f"WRONG       {found} was paid; the last state says {expected}."


def _shares(ending: ScenarioEnding, amount: str, show: Callable[[int], str]) -> str:
    return ", ".join(f"{each.name} {show(getattr(each, amount))}" for each in ending)
