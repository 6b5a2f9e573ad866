"""`forcemove verify`: is a deployment what it says? Every client asks the same before it signs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forcemove.channel.cli.deploy import book_path, open_node
from forcemove.channel.cli.errors import EXIT_ERROR
from forcemove.channel.cli.progress import waiting

if TYPE_CHECKING:
    from forcemove.channel.chain.verification import Verdict

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
    help="How many blocks deep the contracts must stand; 1 is the newest block.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
@click.pass_context
def verify(ctx: click.Context, endpoint: str, path: Path | None, confirmations: int, as_json: bool) -> None:
    """Check that a deployment is what it says.

    For every contract of the address book, the address must be the one that follows from the factory, the salt and this
    version's creation code, and code must stand there. Only then was its storage, too, written by nothing else: a look
    at the code alone would not find a credit that was stored before the code was. Exits with 1 if anything is missing,
    different, or not deep enough.
    """
    from forcemove.channel.chain.addresses import show_address
    from forcemove.channel.chain.book import load_book
    from forcemove.channel.chain.deployment import contracts_to_deploy
    from forcemove.channel.chain.verification import Standing
    from forcemove.channel.chain.verification import verify as compare

    chain = open_node(endpoint)
    book = load_book(path or book_path(chain.chain_id))
    with waiting("Comparing"):
        verdicts = compare(chain, book, confirmations=confirmations)
    absent = [name for name in contracts_to_deploy() if name not in book.contracts]
    genuine = not absent and all(verdict.standing is Standing.GENUINE for verdict in verdicts)
    if as_json:
        shown = [_as_json(verdict) for verdict in verdicts]
        content = {
            "chainId": str(chain.chain_id),
            "factory": show_address(book.factory),
            "genuine": genuine,
            "contracts": shown,
            "notDeployed": absent,
        }
        click.echo(json.dumps(content, indent=2))
    else:
        click.echo("\n".join([*map(_line, verdicts), *(f"{name}: not deployed" for name in absent)]))
        click.echo("Everything stands as it should." if genuine else "Do not use this deployment as it is.")
    ctx.exit(0 if genuine else EXIT_ERROR)


def _line(verdict: Verdict) -> str:
    from forcemove.channel.chain.addresses import show_address

    code = "code stands there" if verdict.has_code else "no code stands there"
    line = f"{verdict.contract}: {verdict.standing.value}; its address is {show_address(verdict.derived)}, {code}"
    if verdict.address == verdict.derived:
        return line
    return f"{line}; the book says {show_address(verdict.address)}, which is another contract"


def _as_json(verdict: Verdict) -> dict[str, Any]:
    from forcemove.channel.chain.addresses import show_address

    return {
        "contract": verdict.contract,
        "address": show_address(verdict.address),
        "derivedAddress": show_address(verdict.derived),
        "hasCode": verdict.has_code,
        "standing": verdict.standing.value,
    }
