"""`forcemove demo`: two players open a funded channel, play, and settle, before the user's eyes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from channel.cli.amounts import AMOUNT
from channel.cli.errors import Explained
from channel.cli.games import game_names, load_game
from channel.cli.progress import waiting
from channel.cli.show import Show

if TYPE_CHECKING:
    from channel.chain.book import AddressBook
    from channel.chain.chain import Chain
    from channel.cli.stage import Stage
    from channel.protocol.signing import Key

__all__ = ["demo"]

_SCENARIOS = ("honest", "stall", "stale-state", "cheat")
_NAMES = ("Alice", "Bob")
_LOCAL_CHAINS = ("eth-tester", "anvil")
_LOCAL_STAKE, _STAKE = 2 * 10**17, 2 * 10**14
_LOCAL_DURATION, _DURATION = 3_600, 60
_MIN_DURATION, _MAX_DURATION = 60, 365 * 24 * 60 * 60
_DEFAULT_GAMES = {"stall": 1, "stale-state": 0, "cheat": 1}


@click.command()
@click.option("--game", "game_name", metavar="NAME", help="rock-paper-scissors or tic-tac-toe; without it, both.")
@click.option(
    "--scenario",
    type=click.Choice(_SCENARIOS),
    help="honest: rounds, then a conclusion. stall: one stops in a lost position, the other challenges and collects. "
    "stale-state: one challenges with an old state, the other checkpoints. cheat: illegal moves, forged signatures and "
    "a withheld move get nowhere. Without it: all of them.",
)
@click.option(
    "--chain",
    "chain_name",
    default="eth-tester",
    show_default=True,
    metavar="eth-tester|anvil|URL",
    help="A chain inside this process, an anvil of our own, or a node.",
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
def demo(
    game_name: str | None,
    scenario: str | None,
    chain_name: str,
    key_file: Path | None,
    stake: int | None,
    duration: int | None,
    asset: str,
    book_file: Path | None,
    save_to: Path | None,
    allow_mainnet: bool,
    as_json: bool,
) -> int:
    """Watch two players open a channel, play, and settle.

    Alice and Bob fund a channel on a chain, play off chain with signed states, and settle: together, or through
    disputes that the adjudicator decides. In the end the balances on the chain are compared with the expected ones; the
    exit code is not zero if they differ.

    Without options: both games, honest, then each dispute, on a chain inside this process. On a node the account of
    --key plays Alice, and pays for Bob, a throw-away account that gives back what is left.
    """
    stories = _stories(game_name, scenario)
    is_local = chain_name in _LOCAL_CHAINS
    if not is_local and key_file is None:
        raise click.UsageError("A node wants --key FILE: the account that plays and pays (`forcemove key new FILE`).")
    if save_to is not None:
        save_to.mkdir(parents=True, exist_ok=True)
    show = Show(_NAMES, quiet=as_json)
    with waiting("Bringing up the chain") as tell, _open(chain_name) as chain:
        keys = _keys(chain, key_file if not is_local else None, allow_mainnet)
        tell("Deploying the contracts")
        stage = _stage(chain, keys, book_file, show, is_local)
        stage.stake = stake if stake is not None else (_LOCAL_STAKE if is_local else _STAKE)
        stage.duration = duration or (_LOCAL_DURATION if is_local else _DURATION)
        stage.save_to = save_to
        tell("Playing")
        results = _play(stage, stories, asset, is_local)
    _conclude(results, as_json)
    return 0 if all(result["balances_as_expected"] for result in results) else 1


def _stories(game_name: str | None, scenario: str | None) -> list[tuple[str, Any]]:
    """Which scenario is played with which game."""
    games = [load_game(game_name)] if game_name else [load_game(name) for name in game_names()]
    if scenario:
        return [(scenario, game) for game in games]
    honest = [("honest", game) for game in games]
    return honest + [(name, games[preferred % len(games)]) for name, preferred in _DEFAULT_GAMES.items()]


def _open(name: str) -> Chain:
    from channel.chain.local import open_chain

    return open_chain(name)


def _keys(chain: Chain, key_file: Path | None, allow_mainnet: bool) -> tuple[Key, Key]:
    from channel.chain.local import local_keys
    from channel.cli.deploy import require_not_mainnet
    from channel.cli.key import open_key_file
    from channel.cli.stage import counterparty_key

    if key_file is None:
        return local_keys()[0], local_keys()[1]
    require_not_mainnet(chain, allow_mainnet)
    key = open_key_file(key_file)
    return key, counterparty_key(key)


def _stage(chain: Chain, keys: tuple[Key, Key], book_file: Path | None, show: Show, is_local: bool) -> Stage:
    from channel.cli.stage import Stage

    stage = Stage(chain, _book(chain, keys[0], book_file, is_local), keys, 0, 0, show)
    # A channel's id commits to its nonce: on a chain that lives on, no channel is ever the same as an earlier one.
    stage.first_nonce = 0 if is_local else chain.now() << 16
    return stage


def _book(chain: Chain, key: Key, book_file: Path | None, is_local: bool) -> AddressBook:
    """The deployment to play on: the one in the book, brought up where something is missing."""
    from channel.chain.deployment import deploy
    from channel.cli.deploy import book_path

    if is_local and book_file is None:
        with tempfile.TemporaryDirectory() as folder:
            return deploy(chain, key, Path(folder) / "book.json")
    return deploy(chain, key, book_file or book_path(chain.chain_id))


def _play(stage: Stage, stories: list[tuple[str, Any]], asset: str, is_local: bool) -> list[dict[str, Any]]:
    import asyncio

    from channel.cli.stories import STORIES
    from channel.node.virtual_time import VirtualTimeLoop

    new_loop = VirtualTimeLoop if stage.chain.can_travel else None
    if not is_local:
        stage.fund_counterparty(len(stories))
    if asset == "token":
        stage.make_token(len(stories))
    results = []
    try:
        for name, game in stories:
            stage.show.title(f"{game.title}: {name}")
            with asyncio.Runner(loop_factory=new_loop) as runner:
                is_right = runner.run(STORIES[name](stage, game))
            results.append({"game": game.name, "scenario": name, "balances_as_expected": is_right})
    finally:
        if not is_local:
            stage.return_rest()
    return results


def _conclude(results: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"stories": results}, indent=1))
        return
    wrong = [result for result in results if not result["balances_as_expected"]]
    click.echo("")
    if wrong:
        raise Explained(
            f"{len(wrong)} of {len(results)} stories did not end as they must (see WRONG above).",
            "This is a mistake of Forcemove's, or somebody else used the accounts meanwhile.",
        )
    what = "The story" if len(results) == 1 else f"All {len(results)} stories"
    click.echo(click.style(f"{what} ended with the balances that they must.", bold=True))
