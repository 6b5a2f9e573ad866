"""What a token says of itself, for people who are to play for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from forcemove.chain.chain import Chain
from forcemove.chain.errors import Unreachable
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError
from forcemove.tables.asking import answers
from forcemove.tables.errors import NoSuchToken, TokenUnclear
from forcemove.text.amounts import ETHER_UNITS, MAX_DECIMALS, exact_amount
from forcemove.text.names import full_name

__all__ = ["TokenFacts", "read_token"]

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class TokenFacts:
    """The token at `address` (20 bytes), and what it says of itself: `symbol`, its name for itself, any text; and
    `decimals`, the digits of an amount that stand after the point. Both are for people: nothing is decided by them."""

    address: bytes
    symbol: str = ""
    decimals: int = 0

    @property
    def shown(self) -> str:
        """Its name for itself, as it may be shown, with the short form of its address. None is shown as ether."""
        is_ether = self.symbol.strip().casefold() in ETHER_UNITS
        return full_name("" if is_ether else self.symbol, self.address)

    def show(self, amount: int) -> str:
        """An amount with all its digits, such as `2.5 USDC 0xa0b8…eb48`. `amount`: in the smallest unit."""
        return exact_amount(amount, self.shown, self.decimals)


def read_token(chains: Sequence[Chain], address: bytes) -> TokenFacts:
    """What the token says of itself through each endpoint that answers. Raises `ChainError`, `NoSuchToken` where there
    is none, and `TokenUnclear` where two endpoints say different things. `address`: 20 bytes."""
    found = set(answers(chains, lambda chain: _read(chain, address)))
    if len(found) > 1:
        raise TokenUnclear(address)
    return found.pop()


def _read(chain: Chain, address: bytes) -> TokenFacts:
    if not chain.code(address):
        raise NoSuchToken(address)
    token = Token(chain, address)
    decimals = _said(token.decimals, 0)
    return TokenFacts(address, _said(token.symbol, ""), decimals if decimals <= MAX_DECIMALS else 0)


def _said(ask: Callable[[], ValueT], otherwise: ValueT) -> ValueT:
    """What the token answers; `otherwise` where it does not answer in the usual way: ERC-20 leaves both out."""
    try:
        return ask()
    except Unreachable:
        raise
    except ForcemoveError:
        return otherwise
