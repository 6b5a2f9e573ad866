"""Puts a channel together from its parts: what is agreed on, and what every client of it is made with.

Local tables, demonstrations and tests all use it, so that there is one way to do it. Knows neither where keys and
stores come from nor what carries the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.chain.reverts import app_errors
from forcemove.chain.rpc import making_sense
from forcemove.errors import PassingError
from forcemove.game import PlayableApp
from forcemove.node.nonces import draw_nonce
from forcemove.node.policy import default_confirmations
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.encoding import Domain
from forcemove.protocol.outcome import address_destination
from forcemove.protocol.types import ETHER, FixedPart

__all__ = ["Assembly", "assemble", "begin", "reassemble"]

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Assembly:
    """One channel of an app on a chain. `adjudicator`: knows the app's errors. `factory`: of our own address book, 20
    bytes. `from_block`: a block before which the channel has logged nothing. `others`: the same adjudicator through
    other endpoints of the chain; a node asks the next one where one fails. `origin_hash`: the hash of `from_block`, 32
    bytes, or empty where nobody asked."""

    app: PlayableApp
    adjudicator: Adjudicator
    agreement: Agreement
    factory: bytes = CUSTOMARY_FACTORY
    from_block: int = 0
    others: tuple[Adjudicator, ...] = ()
    origin_hash: bytes = b""


def assemble(
    chain: Chain,
    book: AddressBook,
    app: PlayableApp,
    participants: Sequence[bytes],
    *,
    stake: int,
    deposit: int,
    duration: int,
    asset: bytes = ETHER,
    nonce: int | None = None,
    app_address: bytes | None = None,
    others: Sequence[Chain] = (),
) -> Assembly:
    """A new channel between participants (addresses, 20 bytes each), which are paid to their own accounts.

    `stake`, and `deposit`, which each puts in: of `asset` (an address; zero is ether), in its smallest unit.
    `duration`: of a challenge, in seconds. `nonce`: drawn unless given. `app_address`: the book's unless given.
    `others`: the same chain through other endpoints. Raises `NotInBook`, and what agreeing raises.
    """
    address = book.find(app.artifact.name).address if app_address is None else app_address
    agreement = agree(
        Domain(chain.chain_id, book.adjudicator),
        FixedPart(tuple(participants), draw_nonce() if nonce is None else nonce, address, duration),
        app,
        stake,
        ((asset, (deposit,) * len(participants)),),
        tuple(map(address_destination, participants)),
    )
    return begin(chain, agreement, app, factory=book.factory, others=others)


def begin(
    chain: Chain,
    agreement: Agreement,
    app: PlayableApp,
    *,
    factory: bytes = CUSTOMARY_FACTORY,
    others: Sequence[Chain] = (),
) -> Assembly:
    """A channel that was agreed on just now, and so has logged nothing yet. Arguments as of `reassemble`. It begins at
    a block that is so deep that no usual reorganisation replaces it, and that all endpoints have which answer; its hash
    is written down only where all name the same, for by it an endpoint is told later to be of another chain. Raises
    `ChainError` where none answers."""
    chains = (chain, *others)
    heads = _answers(chains, Chain.block_number)
    block = max(min(heads) + 1 - default_confirmations(chain.chain_id), 0)
    hashes = set(_answers(chains, lambda each: each.block_hash(block)))
    origin_hash = hashes.pop() if len(hashes) == 1 else b""
    return reassemble(chain, agreement, app, factory=factory, from_block=block, others=others, origin_hash=origin_hash)


def _answers(chains: Sequence[Chain], ask: Callable[[Chain], ValueT]) -> list[ValueT]:
    """Of the endpoints that answer. Raises what the first one has raised where none does."""
    found, failures = list[ValueT](), list[PassingError]()
    for each in chains:
        try:
            with making_sense(each.endpoint):
                found.append(ask(each))
        except PassingError as error:
            failures.append(error)
    if not found:
        raise failures[0]
    return found


def reassemble(
    chain: Chain,
    agreement: Agreement,
    app: PlayableApp,
    *,
    factory: bytes = CUSTOMARY_FACTORY,
    from_block: int = 0,
    others: Sequence[Chain] = (),
    origin_hash: bytes = b"",
) -> Assembly:
    """A channel whose agreement is known from before. `others`: the same chain through other endpoints; `origin_hash`:
    the hash of `from_block`, where it is known."""
    adjudicator, *more = _adjudicators((chain, *others), agreement.domain.adjudicator, app)
    return Assembly(app, adjudicator, agreement, factory, from_block, tuple(more), origin_hash)


def _adjudicators(chains: Sequence[Chain], address: bytes, app: PlayableApp) -> list[Adjudicator]:
    errors = app_errors(app.artifact, app.errors)
    return [Adjudicator(chain, address, errors) for chain in chains]
