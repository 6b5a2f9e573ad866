"""Puts a channel together from its parts: the agreement, the app, and the adjudicator through each endpoint.

Local tables, demonstrations and tests all use this module, so that there is one way to do it. It knows neither where
keys and stores come from nor what carries the messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain, answers
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.chain.reverts import app_errors
from forcemove.game import PlayableApp
from forcemove.history.tokens import Tokens
from forcemove.node.nonces import draw_nonce
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.encoding import Domain
from forcemove.protocol.types import ETHER, FixedPart, address_destination
from forcemove.workers.chain_defaults import default_confirmations


@dataclass(frozen=True, slots=True)
class Assembly:
    """One channel of an app on a chain. `adjudicator`: knows the app's errors. `factory`: of our own address book, 20
    bytes. `from_block`: a block before which the channel has logged nothing. `others`: the same adjudicator through
    other endpoints of the chain. `origin_hash`: the hash of `from_block`, 32 bytes, or empty where it is not known.
    `tokens`: what the channel's tokens say of themselves, for people, as far as that is known."""

    app: PlayableApp
    adjudicator: Adjudicator
    agreement: Agreement
    factory: bytes = CUSTOMARY_FACTORY
    from_block: int = 0
    others: tuple[Adjudicator, ...] = ()
    origin_hash: bytes = b""
    tokens: Tokens = ()


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
    destinations: Sequence[bytes] | None = None,
) -> Assembly:
    """A new channel between participants. Raises `NotInBook`, and what `agree` and `begin` raise.

    - `chain`: the chain, through its first endpoint.
    - `book`: names the contracts on it.
    - `app`: the game.
    - `participants`: their addresses, 20 bytes each.
    - `stake`: what is played for, in the smallest unit of `asset`.
    - `deposit`: what each participant pays in, in the same unit.
    - `duration`: of a challenge, seconds.
    - `asset`: a token's address, 20 bytes; zero, ether, unless given.
    - `nonce`: of the channel; drawn unless given.
    - `app_address`: the app's contract, 20 bytes; the book's unless given.
    - `others`: the same chain through other endpoints.
    - `destinations`: where each participant is paid, 32 bytes each; its own account unless given.
    """
    paid_to = tuple(map(address_destination, participants)) if destinations is None else tuple(destinations)
    address = book.find(app.artifact.name).address if app_address is None else app_address
    agreement = agree(
        Domain(chain.chain_id, book.adjudicator),
        FixedPart(
            tuple(participants),
            draw_nonce() if nonce is None else nonce,
            address,
            duration,
            asset,
            deposit * len(participants),
        ),
        app,
        stake,
        ((asset, (deposit,) * len(participants)),),
        paid_to,
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
    """A channel that was agreed on just now, and so has logged nothing yet. It begins at a block so deep that no usual
    reorganisation replaces it, and that all endpoints have which answer. The block's hash is written down only where
    all of these name the same: by it an endpoint is later found to be of another chain. Raises `ChainError` where no
    endpoint answers.

    - `chain`: the chain, through its first endpoint.
    - `agreement`: what was agreed on.
    - `app`: the game.
    - `factory`: of our own address book, 20 bytes; the customary one unless given.
    - `others`: the same chain through other endpoints.
    """
    chains = (chain, *others)
    heads = answers(chains, lambda each: each.block_number.steps())
    block = max(min(heads) + 1 - default_confirmations(chain.chain_id), 0)
    hashes = set(answers(chains, lambda each: each.block_hash.steps(block)))
    origin_hash = hashes.pop() if len(hashes) == 1 else b""
    return reassemble(chain, agreement, app, factory=factory, from_block=block, others=others, origin_hash=origin_hash)


def reassemble(
    chain: Chain,
    agreement: Agreement,
    app: PlayableApp,
    *,
    factory: bytes = CUSTOMARY_FACTORY,
    from_block: int = 0,
    others: Sequence[Chain] = (),
    origin_hash: bytes = b"",
    tokens: Tokens = (),
) -> Assembly:
    """A channel whose agreement is known from before.

    - `chain`: the chain, through its first endpoint.
    - `agreement`: what was agreed on.
    - `app`: the game.
    - `factory`: of our own address book, 20 bytes; the customary one unless given.
    - `from_block`: a block before which the channel has logged nothing.
    - `others`: the same chain through other endpoints.
    - `origin_hash`: the hash of `from_block`, 32 bytes; empty where it is not known.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    """
    adjudicator, *more = _adjudicators((chain, *others), agreement.domain.adjudicator, app)
    return Assembly(app, adjudicator, agreement, factory, from_block, tuple(more), origin_hash, tokens)


def _adjudicators(chains: Sequence[Chain], address: bytes, app: PlayableApp) -> list[Adjudicator]:
    errors = app_errors(app.artifact, app.errors)
    return [Adjudicator(chain, address, errors) for chain in chains]
