"""`forcemove verify`: whether a deployment is genuine. Every client checks the same before it signs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forcemove.artifact import ADJUDICATOR
from forcemove.cli.deploy import open_book, open_node
from forcemove.cli.errors import EXIT_ERROR
from forcemove.cli.games import usable_games
from forcemove.cli.progress import waiting
from forcemove.cli.wrapping import echo

if TYPE_CHECKING:
    from forcemove.chain.book import AddressBook, GameOfContract
    from forcemove.chain.verification import ContractVerdict
    from forcemove.game import Game

__all__ = ["verify"]


@click.command()
@click.option(
    "--chain", "endpoint", required=True, metavar="URL", help="The node: http(s)://, ws(s)://, or an IPC path."
)
@click.option(
    "--book",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The address book of the deployment.  [default: forcemove-CHAINID.json]",
)
@click.option(
    "--confirmations",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many blocks deep the contracts must be; 1 is the newest block.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
@click.pass_context
def verify(ctx: click.Context, endpoint: str, path: Path | None, confirmations: int, as_json: bool) -> None:
    """Check that a deployment is what it says.

    For every contract of the address book, the address must be the one that follows from the factory, the salt and the
    creation code of the installed version, and code must be there. Only then was its storage, too, written by nothing
    else: a look at the code alone would not find a credit that was stored before the code was. Exits with 1 if the
    adjudicator is not deployed, or anything is missing, different, or not deep enough.

    Installed games that are not deployed yet are named, and so are contracts of games that are not installed, which
    cannot be checked here. Neither makes the rest false.
    """
    from forcemove.chain.verification import verify as compare

    games = usable_games()
    chain = open_node(endpoint)
    book = open_book(path, chain)
    with waiting("Comparing"):
        verdicts = compare(chain, book, games, confirmations=confirmations)
    findings = _Findings(
        tuple(verdicts),
        tuple(game for game in games if game.artifact.name not in book.contracts),
        ADJUDICATOR in book.contracts,
    )
    if as_json:
        click.echo(json.dumps(_as_json(book, findings), indent=2))
    else:
        echo(_page(findings))
    ctx.exit(0 if findings.are_good else EXIT_ERROR)


@dataclass(frozen=True, slots=True)
class _Findings:
    """`absent`: the installed games that the book does not name. `has_adjudicator`: whether the book names the
    adjudicator, without which it is of no use."""

    verdicts: tuple[ContractVerdict, ...]
    absent: tuple[Game, ...]
    has_adjudicator: bool

    @property
    def unknown(self) -> tuple[ContractVerdict, ...]:
        """The contracts that cannot be checked here, because their games are not installed."""
        return tuple(each for each in self.verdicts if each.status.name == "UNKNOWN")

    @property
    def are_good(self) -> bool:
        """Whether the book names the adjudicator and every contract that can be checked is genuine."""
        return self.has_adjudicator and all(each.status.name in ("GENUINE", "UNKNOWN") for each in self.verdicts)


# ---------------------------------------------------------------------------------------------------------- for people


def _page(findings: _Findings) -> str:
    lines = [*map(_line, findings.verdicts)]
    lines += [] if findings.has_adjudicator else [f"{ADJUDICATOR}: not deployed"]
    lines += [f"{game.artifact.name}: not deployed; `forcemove deploy` adds it" for game in findings.absent]
    return "\n".join([*lines, _conclusion(findings)])


def _conclusion(findings: _Findings) -> str:
    if not findings.are_good:
        return "Do not use this deployment as it is."
    if findings.unknown:
        return f"Everything else is genuine. {_names(findings.unknown)} cannot be checked here."
    return "The deployment is genuine."


def _names(verdicts: Sequence[ContractVerdict]) -> str:
    return ", ".join(verdict.contract for verdict in verdicts)


def _line(verdict: ContractVerdict) -> str:
    from forcemove.chain.addresses import show_address

    code = "where there is code" if verdict.has_code else "where there is no code"
    line = f"{verdict.contract}: {verdict.status.value}; its address is {show_address(verdict.derived)}, {code}"
    if verdict.address != verdict.derived:
        return f"{line}; the book says {show_address(verdict.address)}, which is another contract"
    return f"{line}. {_needed(verdict.game)}" if verdict.status.name == "UNKNOWN" else line


def _needed(game: GameOfContract | None) -> str:
    if game is None:
        return "Install the game that has this contract to verify it; the book does not say which."
    of = f" (it was deployed with {game.distribution})" if game.distribution else ""
    return f"Install the game {game.name}{of} to verify it."


# -------------------------------------------------------------------------------------------------------- for programs


def _as_json(book: AddressBook, findings: _Findings) -> dict[str, Any]:
    from forcemove.chain.addresses import show_address

    return {
        "chainId": str(book.chain_id),
        "factory": show_address(book.factory),
        "genuine": findings.are_good,
        "contracts": [_verdict_json(verdict) for verdict in findings.verdicts],
        "notDeployed": [
            *([] if findings.has_adjudicator else [ADJUDICATOR]),
            *(game.artifact.name for game in findings.absent),
        ],
        "unknown": [verdict.contract for verdict in findings.unknown],
    }


def _verdict_json(verdict: ContractVerdict) -> dict[str, Any]:
    from forcemove.chain.addresses import show_address

    return {
        "contract": verdict.contract,
        "address": show_address(verdict.address),
        "derivedAddress": show_address(verdict.derived),
        "hasCode": verdict.has_code,
        "standing": verdict.status.value,
        "game": verdict.game and {"name": verdict.game.name, "distribution": verdict.game.distribution},
    }
