"""The options that several commands on a journal have."""

from __future__ import annotations

import click

from forcemove.cli.parameters import AMOUNT, KEY_FILE

__all__ = ["ACCOUNT", "ID", "IDS", "KEY", "MAX_COST", "NODES", "STORE"]

STORE = click.option(
    "--store",
    envvar="FORCEMOVE_STORE",
    default="forcemove.journal",
    show_default=True,
    metavar="PATH|URL",
    help="The journal: a file, or postgresql://user:password@host/database.",
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
