"""The options that several commands on a journal have."""

from __future__ import annotations

from pathlib import Path

import click

from forcemove.cli.parameters import AMOUNT, KEY_FILE

_OLD_DEFAULT = "forcemove.journal"
"""The journal of every key before journals were named after keys."""


def find_store(ctx: click.Context, _: click.Parameter | None, typed: str | None) -> str:
    """The journal that was typed, else the one of the key, else the only one here. Raises `click.UsageError` where
    there are several."""
    if typed is not None:
        return typed
    found = sorted(map(str, Path().glob("*.journal")))
    if (key := ctx.params.get("key_file")) is not None:
        own = f"{Path(key).stem}.journal"
        return _OLD_DEFAULT if own not in found and _OLD_DEFAULT in found else own  # which may have open channels
    if len(found) > 1:
        raise click.UsageError(f"There are several journals here: name one with --store ({', '.join(found[:9])}).")
    return found[0] if found else _OLD_DEFAULT


STORE = click.option(
    "--store",
    envvar="FORCEMOVE_STORE",
    callback=find_store,
    metavar="PATH|URL",
    help="The journal: a file, or postgresql://user:password@host/database.  [default: named after the key file, as "
    "alice.journal; without a key the only one here]",
)
ID = click.argument("id_", metavar="ID")
IDS = click.argument("ids", metavar="[ID]...", nargs=-1)
NODES = click.option(
    "--chain",
    "endpoints",
    required=True,
    multiple=True,
    metavar="URL",
    help="The node: http(s)://, ws(s)://, or an IPC path; given several times, other nodes of the same chain.",
)
KEY = click.option(
    "--key",
    "key_file",
    required=True,
    metavar="FILE",
    type=KEY_FILE,
    help="The key file of the participant (see `forcemove key`).",
)
ACCOUNT = click.option(
    "--account",
    "account_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="The key file of the account that sends, and pays the gas.  [default: that of --key]",
)
MAX_COST = click.option(
    "--max-cost",
    "max_cost",
    type=AMOUNT,
    metavar="AMOUNT",
    help="What the gas of one transaction may cost, such as '0.01 ether'.  [default: for an answer the ether "
    "at stake, else a fourth of it]",
)
