"""`forcemove demo`: players open a funded channel, play, and settle, before the user's eyes; or they play a game
that needs no channel.

`--json` prints what `results` says; of a game without money `{"game", "result", "error"}`.
"""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from forcemove.cli.amounts import AMOUNT
from forcemove.cli.demo.output import NAMES
from forcemove.cli.errors import EXIT_ERROR, Explained
from forcemove.cli.games import find_table_game, game_names, load_game, table_game_names, usable_games
from forcemove.cli.terminal import Terminal
from forcemove.protocol.types import MAX_PARTICIPANTS, MIN_PARTICIPANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forcemove.cli.demo.run import DemoRun, Plan
    from forcemove.game import Game
    from forcemove.tables.ports import TableGame

__all__ = ["demo"]

_DISPUTES = ("stall", "stale-state", "cheat")
"""Scenarios for two players."""
_CHECKED = ("bad-share", "bad-shuffle")
"""Those of games with moves that only players can judge."""
_SCENARIOS = ("honest", *_DISPUTES, *_CHECKED)
_LOCAL_CHAINS = ("eth-tester", "anvil")
_LOCAL_STAKE, _STAKE = 2 * 10**17, 2 * 10**14
_LOCAL_DURATION, _DURATION = 3_600, 60
_MIN_DURATION, _MAX_DURATION = 60, 365 * 24 * 60 * 60
_TWO = 2
_OF_ALL_GAMES = ("game_name", "play", "as_json")
_OF_A_PERSON = ("game_name", "play", "seats", "stake", "duration")
_OF_THE_BROWSER = ("game_name", "browser", "port", "opens", "stake", "duration")
_OF_THE_NETWORK = ("game_name", "scenario", "network", "stake", "duration", "as_json")


class _Command(click.Command):
    """Prints errors as JSON, too, where `--json` was given."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The installed games, which are looked up only when help is asked for."""
        with formatter.section("Games"):
            formatter.write_dl(
                [
                    ("for channels", ", ".join(game_names()) or "none is installed"),
                    ("without money", ", ".join(table_game_names()) or "none is installed"),
                ]
            )
        super().format_epilog(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command.parse_args`."""
        ctx.obj = _JsonReport("--json" in args)
        with ctx.obj:
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """See `click.Command.invoke`."""
        with ctx.obj:
            return super().invoke(ctx)


class _JsonReport:
    """The JSON of a run: its results as far as they are known, and the error that ends it."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self.content: dict[str, Any] = {"stories": [], "other_transactions": []}

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and not isinstance(error, click.exceptions.Exit):
            self.print_out(error)

    def print_out(self, error: BaseException | None) -> None:
        """Print the JSON, once it is complete."""
        if not self._wanted:
            return
        from forcemove.cli.demo.results import error_json

        click.echo(json.dumps(self.content | {"error": error and error_json(error)}, indent=1))


@click.command(cls=_Command)
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
    "--browser",
    is_flag=True,
    help="Play yourself, in a browser on this machine, against a bot that cheats or vanishes when you press a button.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="With --browser: where to listen.  [default: any free one]",
)
@click.option(
    "--open/--no-open", "opens", default=True, help="With --browser: whether to open the page.  [default: --open]"
)
@click.option(
    "--scenario",
    type=click.Choice(_SCENARIOS),
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
    type=click.Path(dir_okay=False, path_type=Path),
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
    type=click.Path(dir_okay=False, path_type=Path),
    help="The address book of a deployment on the node. Default: forcemove-CHAINID.json; deployed if missing.",
)
@click.option(
    "--save",
    "save_to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every signed state to this directory, for `forcemove inspect`.",
)
@click.option("--allow-mainnet", is_flag=True, help="Play with real money, on Ethereum's main network.")
@click.option("--json", "as_json", is_flag=True, help="Print only the results, as JSON.")
@click.pass_context
def demo(
    ctx: click.Context,
    game_name: str | None,
    seats: int | None,
    play: bool,
    browser: bool,
    port: int,
    opens: bool,
    scenario: str | None,
    network: bool,
    chain_names: tuple[str, ...],
    key_file: Path | None,
    stake: int | None,
    duration: int | None,
    asset: str,
    book_file: Path | None,
    save_to: Path | None,
    allow_mainnet: bool,
    as_json: bool,
) -> int:
    """Watch players open a channel, play, and settle.

    Alice and Bob, and Carol in a game for three, fund a channel on a chain, play off chain with signed states, and
    settle: together, or through disputes that the adjudicator decides. In the end the balances on the chain are
    compared with the expected ones; the exit code is not zero if they differ.

    Without options: all games, honest, then each dispute, on a chain inside this process. On a node the account of
    --key plays Alice, and pays for the others, throw-away accounts that give back what is left. What a run that was
    cut off has left in channels there, the next one brings home before it plays.

    With --network the players are two processes that talk over a relay, as on two machines (`forcemove play`).

    With --play you play --game yourself, against a bot, in a channel on a chain inside this process: no key, no node,
    no relay. Without a terminal each line of standard input is an answer.

    With --browser you play in a page that shows the channel: what each is bound to, what would be paid, what was tried
    and refused. Buttons let the bot, the network and the chain misbehave. The page is for this machine's browser alone.

    A --game without money needs no chain: two bots play it, or you against one with --play.
    """
    if browser:
        _require_no_options_but(ctx, _OF_THE_BROWSER, "--browser brings its own chain, and is for people")
        return _in_a_browser(game_name, stake, duration, port, opens)
    _require_no_options_of_a_browser(ctx)
    table_game = find_table_game(game_name) if game_name else None
    if table_game is not None:
        _require_no_options_but(ctx, _OF_ALL_GAMES, f"{table_game.title} is played without a channel")
        return _at_a_table(ctx.obj, table_game, play, as_json)
    if play:
        return _alone(ctx, game_name, seats, stake, duration)
    if network:
        _require_no_options_but(ctx, _OF_THE_NETWORK, "--network brings its own chain")
        return _over_a_network(ctx.obj, _scenarios(game_name, scenario, _TWO), stake, duration, as_json)
    is_local = not set(chain_names).isdisjoint(_LOCAL_CHAINS)
    if is_local and len(chain_names) > 1:
        raise click.UsageError("A chain of our own has no other nodes: name it alone, or nodes alone.")
    if not is_local and key_file is None:
        raise click.UsageError("A node wants --key FILE: the account that plays and pays (`forcemove key new FILE`).")
    from forcemove.cli.demo.run import Plan

    plan = Plan(
        scenarios=tuple(_scenarios(game_name, scenario, seats)),
        chains=chain_names,
        key_file=None if is_local else key_file,
        stake=stake if stake is not None else (_LOCAL_STAKE if is_local else _STAKE),
        duration=duration or (_LOCAL_DURATION if is_local else _DURATION),
        in_ether=asset == "ether",
        book_file=book_file,
        save_to=save_to,
        allow_mainnet=allow_mainnet,
        quiet=as_json,
    )
    return _in_channels(ctx.obj, plan)


def _scenarios(game_name: str | None, scenario: str | None, seats: int | None) -> list[tuple[str, Game, int]]:
    """Name, game and number of players of each scenario. The disputes are for two. If no game was named the games take
    turns in them, the last one first."""
    games = [load_game(game_name)] if game_name else usable_games()
    able = [game for game in games if seats is None or seats in game.seats]
    for_two = [game for game in able if _TWO in game.seats and seats in (None, _TWO)]
    honest = [("honest", game, seats or min(game.seats)) for game in able]
    from forcemove.game import PlayerChecked

    checked = [game for game in for_two if isinstance(game, PlayerChecked)]
    if scenario in (*_DISPUTES, *_CHECKED):
        scenarios = [(scenario, game, _TWO) for game in (checked if scenario in _CHECKED else for_two)]
    elif scenario:
        scenarios = honest
    else:
        in_turn = zip(_DISPUTES, cycle(reversed(for_two)), strict=False)
        scenarios = honest + [(name, game, _TWO) for name, game in in_turn]
        scenarios += [(name, game, _TWO) for game in checked for name in _CHECKED]
    if not scenarios:
        raise click.UsageError(_why_nothing_is_played(games, scenario, seats))
    return scenarios


def _why_nothing_is_played(games: Sequence[Game], scenario: str | None, seats: int | None) -> str:
    if not games:
        return "No game for channels is installed."
    can = "; ".join(f"{game.name}: {', '.join(map(str, game.seats))}" for game in games)
    if scenario in _CHECKED:
        return f"No game that can be played here has moves that only its players judge, which {scenario} is about."
    wanted = f"{scenario}, which is for two players" if scenario in _DISPUTES else f"{seats} players"
    return f"Nothing can be played with {wanted}. Players that the games can have: {can}."


# ------------------------------------------------------------------------------------------------------ in channels


def _in_channels(report: _JsonReport, plan: Plan) -> int:
    from forcemove.cli.demo.budget import require_playable
    from forcemove.cli.demo.run import DemoRun

    require_playable(plan.stake, plan.seats)
    if plan.save_to is not None:
        plan.save_to.mkdir(parents=True, exist_ok=True)
    terminal = Terminal()
    run = DemoRun(plan, terminal)
    try:
        run.play()
    finally:
        terminal.close()
        report.content = run.to_json()
    report.print_out(None)
    if plan.quiet:
        return 0 if run.is_right else EXIT_ERROR
    _conclude(run, terminal)
    return 0


def _conclude(run: DemoRun, terminal: Terminal) -> None:
    results = run.results
    wrong = [result for result in results if not result.is_right]
    terminal.say("")
    if wrong:
        raise Explained(
            f"{len(wrong)} of {len(results)} scenarios did not end as they must (see WRONG above).",
            "This is a mistake of Forcemove's, or somebody else used the accounts meanwhile.",
        )
    what = "The scenario" if len(results) == 1 else f"All {len(results)} scenarios"
    terminal.say(f"{what} ended with the balances that were expected.", "bold")


def _alone(
    ctx: click.Context, game_name: str | None, seats: int | None, stake: int | None, duration: int | None
) -> int:
    """Let a person play against bots."""
    if game_name is None:
        games = ", ".join([*game_names(), *table_game_names()]) or "none is installed"
        raise click.UsageError(f"--play wants --game with the game that you want to play: {games}.")
    _require_no_options_but(ctx, _OF_A_PERSON, "--play brings its own chain, and is for people")
    ((_, game, count),) = _scenarios(game_name, "honest", seats)
    from forcemove.cli.demo.alone import play_alone
    from forcemove.cli.demo.budget import require_playable

    stake = _LOCAL_STAKE if stake is None else stake
    require_playable(stake, [count])
    terminal = Terminal()
    try:
        play_alone(game, count, stake, duration or _LOCAL_DURATION, terminal)
    finally:
        terminal.close()
    return 0


def _in_a_browser(game_name: str | None, stake: int | None, duration: int | None, port: int, opens: bool) -> int:
    """Let a person play in a browser."""
    from forcemove.game import PlayerChecked

    # The page begins with a game that is soon understood.
    games = sorted(usable_games(), key=lambda game: isinstance(game, PlayerChecked))
    games = [game for game in games if _TWO in game.seats]
    if game_name:
        first = load_game(game_name)
        if _TWO not in first.seats:
            raise click.UsageError(_why_nothing_is_played([first], None, _TWO))
        games = [first, *(game for game in games if game.name != first.name)]
    if not games:
        raise click.UsageError(_why_nothing_is_played(games, None, _TWO))
    from forcemove.cli.demo.browsing import play_in_browser
    from forcemove.cli.demo.budget import require_playable

    stake = _LOCAL_STAKE if stake is None else stake
    require_playable(stake, [_TWO])
    play_in_browser(games, stake, duration or _LOCAL_DURATION, port=port, opens=opens)
    return 0


def _require_no_options_of_a_browser(ctx: click.Context) -> None:
    for name, flag in (("port", "--port"), ("opens", "--open")):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{flag} is for --browser.")


# --------------------------------------------------------------------------------------------------- over a network


def _over_a_network(
    report: _JsonReport, scenarios: list[tuple[str, Game, int]], stake: int | None, duration: int | None, as_json: bool
) -> int:
    from forcemove.cli.demo.network.run import NetworkDemoRun
    from forcemove.cli.play.signals import run_until_terminated

    terminal = Terminal()
    run = NetworkDemoRun(
        tuple((scenario, game) for scenario, game, _ in scenarios),
        _LOCAL_STAKE if stake is None else stake,
        duration or _LOCAL_DURATION,
        terminal,
        quiet=as_json,
    )
    try:
        run_until_terminated(run.play())
    finally:
        terminal.close()
        report.content = run.to_json()
    report.print_out(None)
    if not run.is_right:
        raise Explained("A scenario did not end as it must (see WRONG above).", "This is a mistake of Forcemove's.")
    if not as_json:
        terminal.say("")
        terminal.say(
            f"{len(scenarios)} of {len(scenarios)} scenarios ended with the balances that were expected.", "bold"
        )
    return 0


# ----------------------------------------------------------------------------------------------------- without money


def _require_no_options_but(ctx: click.Context, sensible: tuple[str, ...], why: str) -> None:
    senseless = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name not in sensible
        and ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if senseless:
        raise click.UsageError(f"{why}: leave {', '.join(senseless)} out.")


def _at_a_table(report: _JsonReport, game: TableGame, play: bool, as_json: bool) -> int:
    from forcemove.cli.demo.without_money import sit_down, watch

    report.content = {"game": game.name, "result": None}
    if play and as_json:
        raise click.UsageError("--play is for people, and --json for programs: leave one of them out.")
    terminal = Terminal(indent=0)
    names = (NAMES[0], NAMES[1])
    result = sit_down(game, names, terminal) if play else watch(game, names, terminal, quiet=as_json)
    report.content["result"] = result
    report.print_out(None)
    return 0
