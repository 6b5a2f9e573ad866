"""`forcemove demo`: players open a funded channel, play, and settle, before the user's eyes; or they play a game
that needs no channel.

`--json` prints what `results` says; of a game without money `{"game", "result", "error"}`.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forcemove.cli.demo.planning import ALL_SCENARIOS, games_for_two, planned_scenarios, require_playable
from forcemove.cli.demo.reporting import JsonCommand, JsonReport, report_run
from forcemove.cli.games import find_table_game, installed_names
from forcemove.cli.parameters import AMOUNT, FILE, PAGE, is_typed, require_no_page_options
from forcemove.cli.terminal import Terminal
from forcemove.demo.names import NAMES
from forcemove.game import Level
from forcemove.program import program
from forcemove.protocol.types import MAX_PARTICIPANTS, MIN_PARTICIPANTS

if TYPE_CHECKING:
    from forcemove.sessions.ports import TableGame

_LOCAL_CHAINS = ("eth-tester", "anvil")
_LOCAL_STAKE, _STAKE = 2 * 10**17, 2 * 10**14
_LOCAL_DURATION, _DURATION = 3_600, 60
_MIN_DURATION, _MAX_DURATION = 60, 365 * 24 * 60 * 60
_TWO = 2
_OF_ALL_GAMES = ("game_name", "play", "as_json")
_OF_A_PERSON = ("game_name", "play", "level", "seats", "stake", "duration")
_OF_THE_BROWSER = ("game_name", "browser", "level", "port", "opens", "stake", "duration")
_OF_A_NODE = ("key_file", "book_file", "allow_mainnet")
_OF_THE_NETWORK = ("game_name", "scenario", "network", "stake", "duration", "as_json")


@click.command(cls=JsonCommand)
@click.option(
    "--game",
    "game_name",
    metavar="NAME",
    help="A game for channels, or one without money, as listed below.  [default: all games for channels]",
)
@click.option(
    "--seats",
    type=click.IntRange(MIN_PARTICIPANTS, MAX_PARTICIPANTS),
    metavar="NUMBER",
    help="How many play, in games that can have more than two.  [default: as few as the game allows]",
)
@click.option(
    "--play", is_flag=True, help="Play yourself, against the game's bot, in a channel on a chain inside this process."
)
@click.option(
    "--level",
    type=click.Choice([each.value for each in Level]),
    default=Level.MEDIUM.value,
    show_default=True,
    help="How well the bot plays that you play against, with --play or --browser.",
)
@click.option(
    "--browser",
    is_flag=True,
    help="Play yourself, in a browser on this machine, against a bot that cheats or vanishes when you press a button.",
)
@PAGE
@click.option(
    "--scenario",
    type=click.Choice(ALL_SCENARIOS),
    help="honest: rounds, then a conclusion. stall: one stops in a lost position, the other challenges and collects. "
    "stale-state: one challenges with an old state, the other checkpoints. cheat: illegal moves, forged signatures and "
    "a withheld move get nowhere. Without it: all of them.",
)
@click.option(
    "--network",
    is_flag=True,
    help="Let each player have a process of its own, side by side, over a relay and an anvil on this machine; one of "
    "them is killed in the middle. For two players.",
)
@click.option(
    "--chain",
    "chain_names",
    multiple=True,
    default=("eth-tester",),
    show_default=True,
    metavar="eth-tester|anvil|URL",
    help="A chain inside this process, an anvil of our own, or a node; given several times, other nodes of the same "
    "chain, of which one honest one is enough to lose nothing.",
)
@click.option(
    "--key",
    "key_file",
    type=FILE,
    help="The key file of the account that plays and pays (see `forcemove key`); wanted where --chain is a node.",
)
@click.option(
    "--stake",
    type=AMOUNT,
    metavar="AMOUNT",
    help="What a round is played for, such as '0.2 ether'; each "
    "player deposits five times as much. Default: 0.2 ether, on a node 0.0002 ether.",
)
@click.option(
    "--duration",
    type=click.IntRange(_MIN_DURATION, _MAX_DURATION),
    metavar="SECONDS",
    help="How long a challenge leaves for an answer, 60 or more. Default: 3600, on a node 60.",
)
@click.option(
    "--asset",
    type=click.Choice(("ether", "token")),
    default="ether",
    show_default=True,
    help="Play for ether, or for an ERC-20 made for the occasion.",
)
@click.option(
    "--book",
    "book_file",
    type=FILE,
    help="The address book of a deployment on the node. Default: forcemove-CHAINID.json; deployed if missing.",
)
@click.option(
    "--save",
    "save_to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every signed state to this directory, for `forcemove inspect`.",
)
@click.option("--full", is_flag=True, help="Show every turn and all figures of all scenarios, not of the first alone.")
@click.option("--allow-mainnet", is_flag=True, help="Play with real money, on Ethereum's main network.")
@click.option("--json", "as_json", is_flag=True, help="Print only the results, as JSON.")
@click.pass_context
def demo(ctx: click.Context, /, **given: Any) -> int:
    """Watch players open a channel, play, and settle.

    Alice and Bob, and Carol in a game for three, fund a channel on a chain, play off chain with signed states, and
    settle: together, or through disputes that the adjudicator decides. In the end the balances on the chain are
    compared with the expected ones; the exit code is not zero if they differ.

    Without options: all games, honest, then each dispute, on a chain inside this process; the first game is shown turn
    by turn, of the others what decides. On a node the account of --key plays Alice, and pays for the others, throw-away
    accounts that give back what is left. What a run that was cut off has left in channels there, the next one brings
    home before it plays.

    With --network the players are two processes that talk over a relay, as on two machines (`forcemove play`).

    With --play you play --game yourself, against a bot, in a channel on a chain inside this process: no key, no node,
    no relay. Without a terminal each line of standard input is an answer.

    With --browser you play in a page that shows the channel: what each is bound to, what would be paid, what was tried
    and refused. Buttons let the bot, the network and the chain misbehave. The page is for this machine's browser alone.

    A --game without money needs no chain: two bots play it, or you against one with --play.
    """
    return _DemoArguments(ctx, **given).run()


@dataclass(frozen=True)
class _DemoArguments:
    """What was typed, as the options of the command name it."""

    ctx: click.Context
    game_name: str | None
    seats: int | None
    play: bool
    level: str
    browser: bool
    port: int
    opens: bool
    scenario: str | None
    network: bool
    chain_names: tuple[str, ...]
    key_file: Path | None
    stake: int | None
    duration: int | None
    asset: str
    book_file: Path | None
    save_to: Path | None
    full: bool
    allow_mainnet: bool
    as_json: bool

    def run(self) -> int:
        """Play what is wanted; the exit code. Raises `click.UsageError` where options contradict each other."""
        if self.browser:
            self._require_no_options_but(_OF_THE_BROWSER, "--browser brings its own chain, and is for people")
            return self._in_a_browser()
        require_no_page_options(self.ctx)
        table_game = find_table_game(self.game_name) if self.game_name else None
        if table_game is not None:
            self._require_no_options_but(_OF_ALL_GAMES, f"{table_game.title} is played without a channel")
            return self._at_a_table(table_game)
        if self.play:
            return self._alone()
        if self.network:
            self._require_no_options_but(_OF_THE_NETWORK, "--network is for two, for ether, on its own chain")
            return self._over_a_network()
        return self._in_channels()

    def _require_no_options_but(self, sensible: tuple[str, ...], why: str) -> None:
        self._require_no_options({str(each.name) for each in self.ctx.command.params}.difference(sensible), why)

    def _require_no_options(self, senseless: Collection[str], why: str) -> None:
        given = [each for each in self.ctx.command.params if is_typed(self.ctx, str(each.name))]
        named = [each.opts[0] for each in given if each.name in senseless]
        if named:
            raise click.UsageError(f"{why}: leave {', '.join(named)} out.")

    def _local_stake(self, seats: int) -> int:
        """The stake on a chain of our own, in wei, for this many players. Raises `click.UsageError`."""
        stake = _LOCAL_STAKE if self.stake is None else self.stake
        require_playable(stake, [seats])
        return stake

    def _in_channels(self) -> int:
        """Play scenarios on one chain."""
        from forcemove.cli.demo.run import DemoRun, Plan

        is_local = not set(self.chain_names).isdisjoint(_LOCAL_CHAINS)
        if is_local and len(self.chain_names) > 1:
            raise click.UsageError("A chain of our own has no other nodes: name it alone, or nodes alone.")
        if is_local:
            self._require_no_options(_OF_A_NODE, "The chain is one of our own, and ends with this command")
        if not is_local and self.key_file is None:
            raise click.UsageError(
                f"A node wants --key FILE: the account that plays and pays (`{program()} key new FILE`)."
            )
        scenarios = tuple(planned_scenarios(self.game_name, self.scenario, self.seats))
        plan = Plan(
            scenarios=scenarios,
            chains=self.chain_names,
            key_file=None if is_local else self.key_file,
            stake=self.stake if self.stake is not None else (_LOCAL_STAKE if is_local else _STAKE),
            duration=self.duration or (_LOCAL_DURATION if is_local else _DURATION),
            in_ether=self.asset == "ether",
            book_file=self.book_file,
            save_to=self.save_to,
            allow_mainnet=self.allow_mainnet,
            is_full=self.full or not is_local or len(scenarios) == 1,
        )
        require_playable(plan.stake, plan.seats)
        if plan.save_to is not None:
            plan.save_to.mkdir(parents=True, exist_ok=True)
        terminal = Terminal(is_quiet=self.as_json)
        code = report_run(DemoRun(plan, terminal), self.ctx.obj, terminal)
        if not plan.is_full:
            terminal.say("Add --full to see every turn of all of them.")
        return code

    def _over_a_network(self) -> int:
        """Play scenarios between processes."""
        from forcemove.cli.demo.network.run import NetworkDemoRun

        stake = self._local_stake(_TWO)
        scenarios = tuple((name, game) for name, game, _ in planned_scenarios(self.game_name, self.scenario, _TWO))
        terminal = Terminal(is_quiet=self.as_json)
        run = NetworkDemoRun(scenarios, stake, self.duration or _LOCAL_DURATION, terminal)
        return report_run(run, self.ctx.obj, terminal)

    def _alone(self) -> int:
        """Let a person play against bots."""
        if self.game_name is None:
            games = ", ".join(installed_names()) or "none is installed"
            raise click.UsageError(f"--play wants --game with the game that you want to play: {games}.")
        self._require_no_options_but(_OF_A_PERSON, "--play brings its own chain, and is for people")
        ((_, game, count),) = planned_scenarios(self.game_name, "honest", self.seats)
        from forcemove.cli.demo.alone import play_alone

        stake = self._local_stake(count)
        with closing(Terminal()) as terminal:
            play_alone(game, count, stake, self.duration or _LOCAL_DURATION, Level(self.level), terminal)
        return 0

    def _in_a_browser(self) -> int:
        """Let a person play in a browser."""
        games = games_for_two(self.game_name)
        from forcemove.cli.demo.browsing import play_in_browser

        stake, duration = self._local_stake(_TWO), self.duration or _LOCAL_DURATION
        play_in_browser(games, stake, duration, Level(self.level), port=self.port, opens=self.opens)
        return 0

    def _at_a_table(self, game: TableGame) -> int:
        """Play a game without money."""
        from forcemove.cli.demo.without_money import TableDemoDocument, sit_down, watch

        report: JsonReport = self.ctx.obj
        if self.play and self.as_json:
            raise click.UsageError("--play is for people, and --json for programs: leave one of them out.")
        terminal, names = Terminal(indent=0, is_quiet=self.as_json), (NAMES[0], NAMES[1])
        report.document = TableDemoDocument(game.name)
        report.document.result = (sit_down if self.play else watch)(game, names, terminal)
        report.print_out(None)
        return 0
