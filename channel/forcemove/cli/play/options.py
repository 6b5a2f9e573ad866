"""The options that the commands share that play at tables, with the types of what is typed: names, towers, stakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from forcemove.cli.channel.options import STORE
from forcemove.cli.parameters import ADDRESS, FILE, KEY_FILE, OWN_KEY, Typed, together
from forcemove.history.tokens import MAX_DECIMALS
from forcemove.protocol.types import UINT256_MAX
from forcemove.text.amounts import parse_amount, parse_tokens, token_name

if TYPE_CHECKING:
    from forcemove.history.tokens import TokenFacts


def _name(text: str) -> str:
    from forcemove.errors import InvalidValue
    from forcemove.text.names import own_name

    try:
        return own_name(text)
    except InvalidValue as error:
        raise click.BadParameter(f"A name has {error.reason}.") from None


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
            raise click.UsageError(f"The stake {self.text!r:.80} is not an amount of {other}.")
        if amount > UINT256_MAX:
            raise click.UsageError(f"The stake {self.text!r:.80} is more than any asset has: amounts are below 2**256.")
        return amount


def _stake(text: str) -> TypedStake:
    if parse_amount(text) is None and parse_tokens(text, MAX_DECIMALS) is None:
        raise click.BadParameter(f"{text!r:.80} is not an amount: {_HINT}")
    return TypedStake(text)


STAKE_AMOUNT = Typed("amount", _stake)
"""The type of a stake, in ether or in a token."""
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


def _tower(text: str) -> tuple[str, bytes]:
    address, separator, url = text.partition("@")
    if not separator or not url.startswith(("http://", "https://")):
        raise click.BadParameter(
            f"{text!r:.200} is not a watchtower's address and URL, such as 0x…@https://tower.example"
        )
    return url, ADDRESS.read(address)


ACCOUNTS = together(
    click.option(
        "--key",
        "key_file",
        envvar="FORCEMOVE_KEY",
        default=OWN_KEY,
        show_default=True,
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
    click.option("--payout", type=ADDRESS, help="The address that is paid.  [default: the one that pays in]"),
)
"""Who signs, who pays and who is paid."""
OWN_NAME = click.option(
    "--name", "own_name", type=Typed("NAME", _name), default="", metavar="NAME", help="What the others are to call you."
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
        type=Typed("ADDRESS@URL", _tower),
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
        help="Seconds that another may be silent; then it is challenged, or a friendly game given up. Where a time for "
        "a move was agreed on, see --move-time of `play`, that counts for moves.",
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
