"""Types of what is typed: addresses, amounts, key files and the names of games, of which the last two say what to do
where one is left out. And the options that several commands have.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from forcemove.cli.games import installed_names
from forcemove.errors import MalformedBytes
from forcemove.program import as_called
from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import parse_amount

ValueT = TypeVar("ValueT")


class Typed(click.ParamType[ValueT]):
    """A word as what `read` makes of it. `name`: the word's, for people; `read`: raises `click.BadParameter`, to which
    click adds the option."""

    def __init__(self, name: str, read: Callable[[str], ValueT]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ValueT:  # noqa: ARG002  # as click calls it
        """See `click.ParamType.convert`."""
        return self.read(value) if isinstance(value, str) else value


def _address(text: str) -> bytes:
    from forcemove.chain.addresses import parse_address

    try:
        return parse_address(text.strip())
    except MalformedBytes as error:
        raise click.BadParameter(error.reason) from None


def _amount(text: str) -> int:
    amount = parse_amount(text)
    if amount is None:
        raise click.BadParameter(f"{text!r:.80} is not an amount: write such as '0.2 ether', '5 gwei' or '1000' (wei)")
    if amount > UINT256_MAX:
        raise click.BadParameter(f"{text!r:.80} is more than any asset has: amounts are below 2**256")
    return amount


ADDRESS = Typed("ADDRESS", _address)
"""`0x` and 40 hexadecimal digits, as 20 bytes."""
AMOUNT = Typed("amount", _amount)
"""`0.2 ether`, `5 gwei`, `1000 wei` or `1000` (wei), as a number of wei, exactly."""


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


# -------------------------------------------------------------------------------------------------------------- options

_Command = TypeVar("_Command", bound=Callable[..., object])

FILE = click.Path(dir_okay=False, path_type=Path)
"""The type of a file's path, whether there is one or not."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
NODE = click.option(
    "--chain", "endpoint", required=True, metavar="URL", help="The node: http(s)://, ws(s)://, or an IPC path."
)
ENDPOINT = click.option(
    "--chain", "endpoint", metavar="URL", help="Look at the chain, too: http(s)://, ws(s)://, or an IPC path."
)


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """One decorator in place of several, in the order in which they would be written."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):  # the last one first, as decorators are
            command = option(command)
        return command

    return decorate


PAGE = together(
    click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=0,
        help="With --browser: where to listen.  [default: any free one]",
    ),
    click.option(
        "--open/--no-open", "opens", default=True, help="With --browser: whether to open the page.  [default: --open]"
    ),
)
_OF_A_PAGE = (("port", "--port"), ("opens", "--open"))


def is_typed(ctx: click.Context, name: str) -> bool:
    """Whether the user has typed the option of this parameter."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def require_no_page_options(ctx: click.Context) -> None:
    """Raise `click.UsageError` where an option of a page was typed: there is no --browser."""
    for name, option in _OF_A_PAGE:
        if is_typed(ctx, name):
            raise click.UsageError(f"{option} is for --browser.")
