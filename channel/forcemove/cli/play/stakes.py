"""The stake of a game as a person types it: of ether, or of a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from forcemove.cli.addresses import ADDRESS
from forcemove.history.tokens import MAX_DECIMALS
from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import parse_amount, parse_tokens, token_name

if TYPE_CHECKING:
    from forcemove.history.tokens import TokenFacts

__all__ = ["ASSET", "STAKE", "STAKE_AMOUNT", "TypedStake"]

_HINT = "write such as '0.2 ether', '5 gwei' or '1000' (wei); of a token '2.5 tokens' or '1000' (its smallest unit)"


@dataclass(frozen=True)
class TypedStake:
    """A stake as it was typed. How much it is depends on the token that is played for."""

    text: str

    @property
    def is_nothing(self) -> bool:
        """Whether the game is to be a friendly one."""
        return 0 in (parse_amount(self.text), parse_tokens(self.text, MAX_DECIMALS))

    def of(self, token: TokenFacts | None) -> int:
        """The stake in the smallest unit. `token`: the one that is played for, None for ether. Raises
        `click.UsageError` where it is typed in the other one's units, or is more than there can be."""
        amount = parse_amount(self.text) if token is None else parse_tokens(self.text, token.decimals)
        if amount is None:
            other = "ether: a token has an --asset" if token is None else f"{token_name(token)}: say how many tokens"
            raise click.UsageError(f"The stake {self.text!r:.80} is no amount of {other}.")
        if amount > UINT256_MAX:
            raise click.UsageError(f"The stake {self.text!r:.80} is more than any asset has: amounts are below 2**256.")
        return amount


class _Stake(click.ParamType[TypedStake]):
    """An amount of ether or of a token."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> TypedStake:
        """See `click.ParamType.convert`."""
        if isinstance(value, TypedStake):
            return value
        typed = TypedStake(str(value))
        if parse_amount(typed.text) is None and parse_tokens(typed.text, MAX_DECIMALS) is None:
            self.fail(f"{value!r:.80} is no amount: {_HINT}", param, ctx)
        return typed


STAKE_AMOUNT = _Stake()
"""The type of a stake."""
STAKE = click.option(
    "--stake",
    type=STAKE_AMOUNT,
    metavar="AMOUNT",
    help="Of a round, such as '0.1 ether'; each player pays in five. 0 is a friendly game, without a chain. With "
    "--join: join only for this stake.",
)
ASSET = click.option(
    "--asset",
    type=ADDRESS,
    metavar="ADDRESS",
    help="The token (ERC-20) that is played for, with a stake such as '2.5 tokens'; the gas is still paid in ether.  "
    "[default: ether]",
)
