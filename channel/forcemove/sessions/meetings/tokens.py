"""What a token says of itself, for people who are to play for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from forcemove.chain.asking import Steps
from forcemove.chain.chain import Chain, answers
from forcemove.chain.errors import NodeBusy, Unreachable
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError
from forcemove.history.tokens import MAX_DECIMALS, TokenFacts
from forcemove.sessions.errors import NoSuchToken, TokenUnclear

ValueT = TypeVar("ValueT")
_LONGEST = 64
"""Characters of a symbol that are kept; fewer are shown."""


def read_token(chains: Sequence[Chain], address: bytes) -> TokenFacts:
    """What the token says of itself through each endpoint that answers. Raises `ChainError`, `NoSuchToken` where there
    is none, and `TokenUnclear` where two endpoints say different things. `address`: 20 bytes."""
    found = set(answers(chains, lambda chain: _read(chain, address)))
    if len(found) > 1:
        raise TokenUnclear(address)
    return found.pop()


def _read(chain: Chain, address: bytes) -> Steps[TokenFacts]:
    if not (yield from chain.code.steps(address)):
        raise NoSuchToken(address)
    token = Token(chain, address)
    decimals = yield from _said(token.decimals.steps(), 0)
    symbol = yield from _said(token.symbol.steps(), "")
    return TokenFacts(address, symbol[:_LONGEST], decimals if decimals <= MAX_DECIMALS else 0)


def _said(asked: Steps[ValueT], otherwise: ValueT) -> Steps[ValueT]:
    """What the token answers; `otherwise` where it does not answer in the usual way: ERC-20 leaves both out."""
    try:
        return (yield from asked)
    except (NodeBusy, Unreachable):
        raise
    except ForcemoveError:
        return otherwise
