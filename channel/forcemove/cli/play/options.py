"""The options that the commands share that play at tables."""

from __future__ import annotations

from typing import Any

import click

from forcemove.cli.addresses import ADDRESS
from forcemove.cli.channel.options import STORE
from forcemove.cli.missing import KEY_FILE
from forcemove.cli.options import FILE, together
from forcemove.cli.play.names import NAME

__all__ = ["ACCOUNTS", "ALLOW_MAINNET", "OWN_NAME", "STORING", "WAITING"]


class _Tower(click.ParamType[tuple[str, bytes]]):
    """ADDRESS@URL."""

    name = "ADDRESS@URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, bytes]:
        """See `click.ParamType.convert`."""
        if isinstance(value, tuple):
            return value
        address, separator, url = value.partition("@")
        if not separator or not url.startswith(("http://", "https://")):
            self.fail(
                f"{value!r:.200} is not a watchtower's address and URL, such as 0x…@https://tower.example", param, ctx
            )
        return url, ADDRESS.convert(address, param, ctx)


ACCOUNTS = together(
    click.option(
        "--key",
        "key_file",
        required=True,
        type=KEY_FILE,
        help="The key file of the player, which signs states (see `forcemove key`).",
    ),
    click.option(
        "--account",
        "account_file",
        type=FILE,
        help="The key file of the account that pays in, pays the gas, and is paid.  [default: that of --key]",
    ),
    click.option(
        "--wallet",
        "wallet_address",
        type=ADDRESS,
        help="The address of a wallet in the browser, which pays in, pays the gas, and is paid: it signs on the page. "
        "In place of --account.",
    ),
    click.option("--payout", type=ADDRESS, help="The address that is paid.  [default: whoever pays in]"),
)
"""Who signs, who pays and who is paid."""
OWN_NAME = click.option(
    "--name", "own_name", type=NAME, default="", metavar="NAME", help="What the others are to call you."
)
STORING = together(
    STORE,
    click.option(
        "--book", "book_file", type=FILE, help="The address book with the contracts.  [default: forcemove-CHAINID.json]"
    ),
    click.option(
        "--tower",
        "towers",
        multiple=True,
        type=_Tower(),
        help="A watchtower that is to answer for you while you are away: its account, and where it is; may be given "
        "several times (see `forcemove watch`).",
    ),
)
"""What is known of the contracts and the channels, here and elsewhere."""
WAITING = together(
    click.option(
        "--patience",
        type=click.FloatRange(1),
        default=600.0,
        show_default=True,
        help="Seconds that another may be silent; then it is challenged, or a friendly game given up.",
    ),
    click.option(
        "--lease",
        type=click.FloatRange(1),
        default=60.0,
        show_default=True,
        help="Seconds after which another process on the same PostgreSQL goes on for one that died; on a file, at "
        "once.",
    ),
)
"""How long others are waited for."""
ALLOW_MAINNET = click.option(
    "--allow-mainnet", is_flag=True, help="Play even on Ethereum's main network, for real money."
)
