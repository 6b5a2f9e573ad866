"""`forcemove verify`: whether a deployment is genuine. Every client checks the same before it signs."""

from __future__ import annotations

from pathlib import Path

import click

from forcemove.cli.deploy import open_book, open_node
from forcemove.cli.errors import EXIT_ERROR
from forcemove.cli.games import usable_games
from forcemove.cli.json_output import print_document
from forcemove.cli.parameters import FILE, JSON, NODE
from forcemove.cli.terminal import waiting
from forcemove.cli.wrapping import echo


@click.command()
@NODE
@click.option(
    "--book",
    "path",
    type=FILE,
    help="The address book of the deployment.  [default: forcemove-CHAINID.json]",
)
@click.option(
    "--confirmations",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many blocks deep the contracts must be; 1 is the newest block.",
)
@JSON
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
    from forcemove.inspect.deployments import inspect_deployment
    from forcemove.inspect.report_json import deployment_document
    from forcemove.text.deployments import deployment_lines

    games = usable_games()
    chain = open_node(endpoint)
    book = open_book(path, chain)
    with waiting("Comparing"):
        report = inspect_deployment(chain, book, games, confirmations=confirmations)
    if as_json:
        print_document(deployment_document(book, report))
    else:
        echo("\n".join(deployment_lines(report)))
    ctx.exit(0 if report.is_good else EXIT_ERROR)
