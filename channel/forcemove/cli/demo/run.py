"""A demonstration from its first look at the chain to the last balance."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path

import click

from forcemove.arena.virtual_time import VirtualTimeLoop
from forcemove.chain.book_file import load_book
from forcemove.chain.chain import Chain, answering
from forcemove.chain.deployment import deploy
from forcemove.chain.local import local_keys, open_chain
from forcemove.cli.channel.stores import open_store
from forcemove.cli.demo.signals import NO_LOSS, CutOff, Stopped, run_until_stopped, stopped_by_signals
from forcemove.cli.deploy import book_path, require_not_mainnet
from forcemove.cli.endpoints import open_nodes
from forcemove.cli.games import usable_games
from forcemove.cli.key import open_key_file
from forcemove.cli.terminal import Terminal
from forcemove.demo.environment import DemoEnvironment, counterparty_key
from forcemove.demo.output import DemoOutput
from forcemove.demo.player_checks import CHECKED_SCENARIOS
from forcemove.demo.results import DemoDocument, ScenarioResult
from forcemove.demo.scenarios import SCENARIOS, bring_home
from forcemove.demo.table import DemoTable
from forcemove.game import Game
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.signing import Key
from forcemove.protocol.types import MAX_PARTICIPANTS
from forcemove.sessions.errors import CannotPayIn
from forcemove.store.journal import Journal
from forcemove.store.records import Account
from forcemove.text.amounts import amount_text
from forcemove.workers.errors import AccountInUse

_LEASE = 60.0
_REFUSALS = (click.ClickException, CannotPayIn)
"""Errors before anything was sent."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a demonstration is to play, and on which chain.

    - `scenarios`: name, game and number of players of each.
    - `chains`: one as `open_chain` names it, or several endpoints of one.
    - `key_file`: of the player that pays on a node; None for a chain that ends with the run.
    - `stake`: of ether or the token, in its smallest unit.
    - `duration`: of a challenge, in seconds.
    - `in_ether`: whether ether is played for, and not a token made for the occasion.
    - `book_file`: the address book of a node's chain; None for the usual one.
    - `save_to`: the folder for every signed state, None for none.
    - `allow_mainnet`: whether real money may be played for.
    - `is_full`: whether every turn and all figures are shown, see `DemoOutput`.
    """

    scenarios: tuple[tuple[str, Game, int], ...]
    chains: tuple[str, ...]
    key_file: Path | None
    stake: int
    duration: int
    in_ether: bool
    book_file: Path | None
    save_to: Path | None
    allow_mainnet: bool
    is_full: bool

    @property
    def games(self) -> tuple[Game, ...]:
        """The games of the scenarios, each once."""
        return tuple({game.name: game for _, game, _ in self.scenarios}.values())

    @property
    def seats(self) -> tuple[int, ...]:
        """The number of players of each scenario."""
        return tuple(count for _, _, count in self.scenarios)


@dataclass
class DemoRun:
    """One run of the demonstration. `results`: of the scenarios that have ended. They are there when the run was cut
    off, too."""

    plan: Plan
    terminal: Terminal
    results: list[ScenarioResult] = field(default_factory=list)
    environment: DemoEnvironment | None = None

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scenario that has ended has ended as it must."""
        return [result.is_right for result in self.results]

    @property
    def document(self) -> DemoDocument:
        """The results of the run, and the transactions that are not part of a scenario that has ended."""
        counted = {each.hash for result in self.results for each in result.transactions}
        spent = self.environment.spent if self.environment else ()
        others = [each for each in spent if each.hash not in counted]
        return DemoDocument([each.document for each in self.results], others)

    def play(self) -> None:
        """Play the scenarios. Raises `CutOff`, `CannotPayIn`, and, before any transaction is sent, the errors of the
        node, the key file, the address book and the journals."""
        with stopped_by_signals():
            try:
                if self.plan.key_file is None:
                    self._play_locally()
                else:
                    self._play_on_a_node(self.plan.key_file)
            except Stopped as stopped:  # before any transaction, or for the second time
                advice = (
                    "Nothing was sent."
                    if self.environment is None
                    else "Run the same command again to go on from there."
                )
                raise CutOff(stopped, advice) from None

    def _play_locally(self) -> None:
        """Play on a chain that ends with this run."""
        try:
            self.terminal.status("Bringing up the chain")
            with open_chain(self.plan.chains[0]) as chain, tempfile.TemporaryDirectory() as folder:
                environment = self._begin(chain, local_keys()[: max(self.plan.seats)])
                self._play(environment, Path(folder) / "book.json")
        except (KeyboardInterrupt, Exception) as error:
            if isinstance(error, (*_REFUSALS, BrokenPipeError)):
                raise
            raise CutOff(error, NO_LOSS) from error

    def _play_on_a_node(self, key_file: Path) -> None:
        """Play on a chain that lives on: unfinished channels are settled first."""
        self.terminal.status("Asking the node")
        with ExitStack() as stack:
            chain, *others = map(stack.enter_context, self._open_nodes())
            require_not_mainnet(chain, self.plan.allow_mainnet)
            self.terminal.close()  # somebody may be asked for a passphrase
            key = open_key_file(key_file)
            paths = _journal_paths(key_file, max(self.plan.seats))
            journals = [stack.enter_context(_opened_journal(each)) for each in paths]
            if journals[0].leases.take([Account(chain.chain_id, key.address)], _LEASE).refused:
                raise AccountInUse(chain.chain_id, key.address)
            keys = (key, *(counterparty_key(key, seat) for seat in range(1, len(journals))))
            environment = self._begin(chain, keys)
            environment.journals, environment.others = journals, tuple(others)
            with _cut_off(environment):
                book = self.plan.book_file or book_path(chain.chain_id)
                self._bring_home(environment, book)
                self._play(environment, book)
                environment.return_rest()

    def _open_nodes(self) -> tuple[Chain, ...]:
        """The chain through each endpoint, first through one that answers. Raises as `open_nodes`."""
        chains = open_nodes(self.plan.chains, waits=False, notify=self.terminal.note)
        there = answering(chains)
        return (*there, *(each for each in chains if each not in there))

    def _begin(self, chain: Chain, keys: tuple[Key, ...]) -> DemoEnvironment:
        output = DemoOutput(self.terminal.say, self.terminal.status, is_full=self.plan.is_full)
        self.environment = DemoEnvironment(
            chain, keys, output, self.plan.stake, self.plan.duration, save_to=self.plan.save_to
        )
        return self.environment

    def _bring_home(self, environment: DemoEnvironment, book: Path) -> None:
        """Bring home what an earlier run has left."""
        self.terminal.status("Waiting for transactions from before")
        environment.settle()
        if book.exists():
            environment.factory = load_book(book).factory
        if left := environment.unfinished(usable_games()):
            for each in left:
                run_until_stopped(bring_home(environment, each))
            environment.return_rest()

    def _play(self, environment: DemoEnvironment, book: Path) -> None:
        """Play all scenarios, with the contracts of the book; those that are missing are deployed."""
        plan, chain, keys = self.plan, environment.chain, environment.keys
        environment.require_funds(plan.seats, plan.games, in_ether=plan.in_ether)
        self.terminal.status("Deploying the contracts")
        environment.deployment = deploy(chain, keys[0], book, plan.games)
        environment.factory = environment.deployment.factory
        self.terminal.status("Playing")
        environment.fund_counterparties(plan.seats, in_ether=plan.in_ether)
        if not plan.in_ether:
            environment.make_token(len(plan.scenarios))
        new_loop = VirtualTimeLoop if chain.can_travel else None
        for scenario, game, count in plan.scenarios:
            environment.output.title(f"{game.title}: {scenario}")
            self.results.append(run_until_stopped(_scenario(environment, scenario, game, count), new_loop))
            self.terminal.status("Playing")


async def _scenario(environment: DemoEnvironment, name: str, game: Game, seats: int) -> ScenarioResult:
    """Play one scenario at a new table, whose clock is that of the event loop."""
    table = DemoTable(environment, game, environment.assemble(game, seats))
    return await (SCENARIOS | CHECKED_SCENARIOS)[name](table)


def _journal_paths(key_file: Path, seats: int) -> list[str]:
    """The players' journals, by seat: the first is the one that the key plays with elsewhere, too. `seats`: how many
    there are at least; there are more where an earlier run had more."""
    own = f"{key_file.stem}.journal"
    paths = [own, *(f"{own}-{seat}" for seat in range(1, MAX_PARTICIPANTS))]
    return [path for seat, path in enumerate(paths) if seat < seats or Path(path).exists()]


@contextmanager
def _opened_journal(path: str) -> Iterator[Journal]:
    """A player's journal, whose leases are given back in the end."""
    with open_store(path, may_be_new=True) as journal:
        try:
            yield journal
        finally:
            journal.leases.release(journal.leases.renew(_LEASE))


@contextmanager
def _cut_off(environment: DemoEnvironment) -> Iterator[None]:
    """Say of what ends the block what it leaves, and how the money comes home."""
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        left = environment.unfinished(usable_games())
        if isinstance(error, _REFUSALS) and not left:
            raise
        lines = [line for each in left for line in _shown(each)]
        if left:
            lines.append(f"What gets it back is in {relpath(environment.journals[0].where)}.")
        lines.append("Run the same command in the same directory: it brings the money home first.")
        raise CutOff(error, "\n".join(lines), [each.id for each in left]) from error


def _shown(left: JournalChannel) -> Iterator[str]:
    """What a channel holds at most, in lines of at most 80 columns."""
    for asset, amounts in left.channel.agreement.deposits:
        yield f"Locked: at most {amount_text(asset, sum(amounts), left.tokens)}"
    yield f"  in channel {hex_text(left.id)}"
