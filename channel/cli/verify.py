"""`forcemove verify`: compare a deployment with what stands on its chain, as every client does before it signs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from channel.cli.deploy import book_path, open_node
from channel.cli.errors import EXIT_ERROR
from channel.cli.progress import waiting

if TYPE_CHECKING:
    from channel.chain.deployment import Verdict

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
@click.pass_context
def verify(ctx: click.Context, endpoint: str, path: Path | None, as_json: bool) -> None:
    """Compare a deployment with what stands on its chain.

    For every contract of the address book, the code on the chain must be that of the sources, byte for byte. Exits with
    1 if anything is missing or different.
    """
    from channel.chain.book import load_book
    from channel.chain.deployment import Standing, contracts_to_deploy
    from channel.chain.deployment import verify as compare

    chain = open_node(endpoint)
    book = load_book(path or book_path(chain.chain_id))
    with waiting("Comparing"):
        verdicts = compare(chain, book)
    absent = [name for name in contracts_to_deploy() if name not in book.contracts]
    genuine = not absent and all(verdict.standing is Standing.GENUINE for verdict in verdicts)
    if as_json:
        shown = [_as_json(verdict) for verdict in verdicts]
        content = {"chainId": chain.chain_id, "genuine": genuine, "contracts": shown, "notDeployed": absent}
        click.echo(json.dumps(content, indent=2))
    else:
        click.echo("\n".join([*map(_line, verdicts), *(f"{name}: not deployed" for name in absent)]))
        click.echo("Everything stands as it should." if genuine else "Do not use this deployment as it is.")
    ctx.exit(0 if genuine else EXIT_ERROR)


def _line(verdict: Verdict) -> str:
    from channel.chain.addresses import show_address

    return f"{verdict.contract}: {verdict.standing.value}, at {show_address(verdict.address)}"


def _as_json(verdict: Verdict) -> dict[str, Any]:
    from channel.chain.addresses import show_address

    return {
        "contract": verdict.contract,
        "address": show_address(verdict.address),
        "standing": verdict.standing.value,
        "recordedCodeHash": "0x" + verdict.recorded.hex(),
        "foundCodeHash": verdict.found and "0x" + verdict.found.hex(),
    }
