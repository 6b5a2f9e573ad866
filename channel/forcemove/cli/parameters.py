"""Types of what is typed: addresses, amounts, key files and the names of games. The last two say what to do where one
is left out."""

from __future__ import annotations

from pathlib import Path

import click

from forcemove.cli.games import installed_names
from forcemove.errors import MalformedBytes
from forcemove.program import as_called
from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import parse_amount


class _Address(click.ParamType[bytes]):
    """`0x` and 40 hexadecimal digits, as 20 bytes."""

    name = "ADDRESS"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """See `click.ParamType.convert`."""
        from forcemove.chain.addresses import parse_address

        if isinstance(value, bytes):
            return value
        try:
            return parse_address(str(value).strip())
        except MalformedBytes as error:
            self.fail(error.reason, param, ctx)


ADDRESS = _Address()


class _Amount(click.ParamType[int]):
    """`0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei), as a number of wei, exactly."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType.convert`."""
        if isinstance(value, int):
            return value
        amount = parse_amount(str(value))
        if amount is None:
            self.fail(
                f"{value!r:.80} is not an amount: write such as '0.2 ether', '5 gwei' or '1000' (wei)", param, ctx
            )
        if amount > UINT256_MAX:
            self.fail(f"{value!r:.80} is more than any asset has: amounts are below 2**256", param, ctx)
        return amount


AMOUNT = _Amount()
"""The type of options that take an amount."""


class _KeyFile(click.Path):
    """A key file, which a command may be the first to ask for."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002  # as click calls it
        """See `click.ParamType.get_missing_message`."""
        return as_called("`forcemove key new FILE` makes a key file.")


class _GameName(click.ParamType[str]):
    """The name of a game, installed or not: what is wrong with it is said where it is looked for."""

    name = "GAME"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002  # as click calls it
        """See `click.ParamType.get_missing_message`."""
        return f"Installed are: {', '.join(installed_names()) or 'none'}."


GAME_NAME = _GameName()
KEY_FILE = _KeyFile(dir_okay=False, path_type=Path)
OWN_KEY = "key.json"
"""The key file of a player who names none."""
