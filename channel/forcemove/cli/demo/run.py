"""A demonstration from its first look at the chain to the last balance."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click

from forcemove.arena.virtual_time import VirtualTimeLoop
from forcemove.chain.book_file import load_book
from forcemove.chain.chain import Chain
from forcemove.chain.deployment import deploy
from forcemove.chain.endpoints import answering
from forcemove.chain.local import connect, local_keys, open_chain
from forcemove.cli.demo.cut_off import NO_LOSS, CutOff, cut_off_on_a_node
from forcemove.cli.demo.output import DemoOutput
from forcemove.cli.demo.signals import Stopped, run_until_stopped, stopped_by_signals
from forcemove.cli.deploy import book_path, require_not_mainnet
from forcemove.cli.endpoints import open_nodes
from forcemove.cli.games import usable_games
from forcemove.cli.key import open_key_file
from forcemove.cli.terminal import Terminal
from forcemove.demo.budget import require_local_funds, require_node_funds
from forcemove.demo.environment import DemoEnvironment, counterparty_key
from forcemove.demo.errors import DemoRefused
from forcemove.demo.journals import Journals
from forcemove.demo.player_checks import CHECKED_SCENARIOS
from forcemove.demo.results import DemoDocument, MinedTransaction, ScenarioResult
from forcemove.demo.scenarios import SCENARIOS
from forcemove.demo.unfinished import bring_home, settle_accounts
from forcemove.game import Game
from forcemove.protocol.signing import Key
from forcemove.store.records import Account

__all__ = ["DemoRun", "Plan"]


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
    """One run of the demonstration. `results`: of the scenarios that have ended; `others`: transactions of no channel.
    Both are there when the run was cut off, too."""

    plan: Plan
    terminal: Terminal
    results: list[ScenarioResult] = field(default_factory=list)
    environment: DemoEnvironment | None = None

    @property
    def others(self) -> list[MinedTransaction]:
        """The transactions that are not part of a scenario that has ended."""
        counted = {each.hash for result in self.results for each in result.transactions}
        return [each for each in (self.environment.spent if self.environment else ()) if each.hash not in counted]

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scenario that has ended has ended as it must."""
        return [result.is_right for result in self.results]

    @property
    def document(self) -> DemoDocument:
        """The results of the run."""
        return DemoDocument([each.document for each in self.results], [each.document for each in self.others])

    def play(self) -> None:
        """Play the scenarios. Raises `CutOff`, `NotEnough`, and, before any transaction is sent, the errors of the
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
        plan = self.plan
        try:
            self.terminal.status("Bringing up the chain")
            with open_chain(plan.chains[0]) as chain:
                environment = self.environment = self._environment(chain, local_keys()[: max(plan.seats)])
                require_local_funds(chain, environment.keys, plan.stake, plan.seats, in_ether=plan.in_ether)
                with tempfile.TemporaryDirectory() as folder:
                    self._deploy(environment, Path(folder) / "book.json")
                self._play(environment)
        except (KeyboardInterrupt, Exception) as error:
            if isinstance(error, click.ClickException | DemoRefused | BrokenPipeError):
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
            book = self.plan.book_file or book_path(chain.chain_id)
            with Journals(book, Account(chain.chain_id, key.address), usable_games()) as journals:
                players = max(*self.plan.seats, *(each.agreement.count for each in journals.channels), 2)
                keys = (key, *(counterparty_key(key, seat) for seat in range(1, players)))
                environment = self.environment = self._environment(chain, keys)
                environment.journals, environment.others = journals, tuple(others)
                try:
                    self._play_with_payer(environment, journals, book)
                except (click.ClickException, DemoRefused) as error:
                    if not journals.channels:
                        raise
                    raise self._cut_off(error, journals, environment) from error
                except (KeyboardInterrupt, Exception) as error:
                    raise self._cut_off(error, journals, environment) from error

    def _open_nodes(self) -> tuple[Chain, ...]:
        """The chain through each endpoint, first through one that answers. Raises as `open_nodes`."""
        if len(self.plan.chains) == 1:
            return (connect(self.plan.chains[0]),)
        chains = open_nodes(self.plan.chains, waits=False, notify=self.terminal.note)
        there = answering(chains)
        return (*there, *(each for each in chains if each not in there))

    def _cut_off(self, error: BaseException, journals: Journals, environment: DemoEnvironment) -> CutOff:
        self.terminal.status("Looking at what is locked")
        counterparties = [key.address for key in environment.keys[1:]]
        return cut_off_on_a_node(error, self.plan.chains, journals, counterparties)

    def _play_with_payer(self, environment: DemoEnvironment, journals: Journals, book: Path) -> None:
        self.terminal.status("Waiting for transactions from before")
        settle_accounts(environment.chain, environment.keys)
        if book.exists():
            environment.factory = load_book(book).factory
        if journals.channels:
            run_until_stopped(bring_home(environment, journals))
        self._require_funds(environment)
        self._deploy(environment, book)
        self.terminal.status("Playing")
        environment.fund_counterparties(self.plan.seats, in_ether=self.plan.in_ether)
        self._play(environment)
        environment.return_rest()

    def _require_funds(self, environment: DemoEnvironment) -> None:
        plan = self.plan
        require_node_funds(
            environment.chain,
            environment.keys,
            plan.stake,
            plan.seats,
            environment.factory,
            plan.games,
            in_ether=plan.in_ether,
        )

    def _environment(self, chain: Chain, keys: tuple[Key, ...]) -> DemoEnvironment:
        output = DemoOutput(self.terminal, is_full=self.plan.is_full)
        return DemoEnvironment(chain, keys, output, self.plan.stake, self.plan.duration, save_to=self.plan.save_to)

    def _deploy(self, environment: DemoEnvironment, book: Path) -> None:
        """Take the contracts of the book, and deploy those that are missing."""
        self.terminal.status("Deploying the contracts")
        environment.deployment = deploy(environment.chain, environment.keys[0], book, self.plan.games)
        environment.factory = environment.deployment.factory

    def _play(self, environment: DemoEnvironment) -> None:
        self.terminal.status("Playing")
        if not self.plan.in_ether:
            environment.make_token(len(self.plan.scenarios))
        new_loop = VirtualTimeLoop if environment.chain.can_travel else None
        for scenario, game, count in self.plan.scenarios:
            environment.output.title(f"{game.title}: {scenario}")
            play = (SCENARIOS | CHECKED_SCENARIOS)[scenario]
            self.results.append(run_until_stopped(play(environment, game, count), new_loop))
            self.terminal.status("Playing")
