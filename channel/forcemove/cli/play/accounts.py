"""Whose keys play, and which watchtowers answer for them: the options that name them, and what these open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forcemove.cli.addresses import ADDRESS
from forcemove.cli.key import open_key_file

if TYPE_CHECKING:
    from forcemove.tables.options import Wallet
    from forcemove.watchtower.client import TowerClient

__all__ = [
    "ACCOUNT",
    "LEASE",
    "PAYOUT",
    "TOWERS",
    "WALLET",
    "open_wallet",
    "require_no_account",
    "tower_at",
]


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


TOWERS = click.option(
    "--tower",
    "towers",
    multiple=True,
    type=_Tower(),
    help="A watchtower that is to answer for you while you are away: its account, and where it is; may be given "
    "several times (see `forcemove watch`).",
)
LEASE = click.option(
    "--lease",
    type=click.FloatRange(1),
    default=60.0,
    show_default=True,
    help="Seconds after which another process on the same PostgreSQL goes on for one that died; on a file, at once.",
)


def tower_at(url: str, address: bytes) -> TowerClient:
    """A client of the watchtower with this account (20 bytes)."""
    from forcemove.watchtower.client import TowerClient

    return TowerClient(url, address)


ACCOUNT = click.option(
    "--account",
    "account_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The key file of the account that pays in, pays the gas, and is paid.  [default: that of --key]",
)
WALLET = click.option(
    "--wallet",
    "wallet_address",
    type=ADDRESS,
    help="The address of a wallet in the browser, which pays in, pays the gas, and is paid: it signs on the page. "
    "In place of --account.",
)
PAYOUT = click.option("--payout", type=ADDRESS, help="The address that is paid.  [default: whoever pays in]")


def require_no_account(*named: object) -> None:
    """Raise `click.UsageError` where an account is named for friendly games. `named`: the values of `ACCOUNT`, `WALLET`
    and `PAYOUT`, each None where it was not given."""
    if any(each is not None for each in named):
        raise click.UsageError(
            "A friendly game pays nothing: leave --account, --wallet and --payout out, or name a --chain."
        )


def open_wallet(
    key_file: Path, account_file: Path | None, payout: bytes | None, wallet_address: bytes | None = None
) -> Wallet:
    """A player's keys. Raises `click.UsageError` where two accounts are to pay.

    - `key_file`: signs states.
    - `account_file`: pays; None for the same key.
    - `payout`: is paid, 20 bytes; None for whoever pays.
    - `wallet_address`: pays, 20 bytes, and signs elsewhere; None where a key pays.
    """
    from forcemove.tables.options import Wallet

    if wallet_address is not None and account_file is not None:
        raise click.UsageError("--account and --wallet exclude each other: one of them pays.")
    key = open_key_file(key_file)
    if wallet_address is not None:
        return Wallet(key, wallet_address, wallet_address if payout is None else payout)
    payer = key if account_file is None else open_key_file(account_file)
    return Wallet(key, payer, payer.address if payout is None else payout)
