"""The terms of a game: the offer to make, the offers to accept, and the channel that follows from an offer and a join.
Asks no relay and no chain."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from forcemove.chain.addresses import show_address
from forcemove.game import Game
from forcemove.history.tokens import TokenFacts
from forcemove.node.nonces import draw_nonce
from forcemove.node.policy import (
    Policy,
)
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES, Agreement, agree
from forcemove.protocol.encoding import Domain
from forcemove.protocol.outcome import address_destination
from forcemove.protocol.types import ETHER, FixedPart
from forcemove.tables.errors import OfferDiffers
from forcemove.text.amounts import amount_text, exact_amount, exact_tokens
from forcemove.text.names import shown_name
from forcemove.transport.joins import Join
from forcemove.transport.offers import MIN_SEATS, Offer, OfferOfAnotherChain

__all__ = [
    "Venue",
    "agreement_of",
    "asset_of",
    "is_ours",
    "labelled_lines",
    "new_offer",
    "offered_amount",
    "require_ours",
    "terms_lines",
]

_OFFER_SECONDS = 24 * 60 * 60
_DIGITS = 3
_NAME_COLUMNS = 15
"""Columns of a line's name."""
_POLICY = Policy()


class Venue(Protocol):
    """A game and the chain that it is played on, or no chain."""

    @property
    def name(self) -> str:
        """The game's name in offers."""
        ...

    @property
    def title(self) -> str:
        """The game's name for people."""
        ...

    @property
    def chain_id(self) -> int:
        """The chain's id, 0 where there is none."""
        ...

    @property
    def adjudicator(self) -> bytes:
        """The adjudicator's address, 20 bytes."""
        ...

    @property
    def app(self) -> bytes:
        """The address of the game's contract, 20 bytes."""
        ...

    @property
    def seats(self) -> Sequence[int]:
        """How many can play the game, rising."""
        ...

    @property
    def token(self) -> TokenFacts | None:
        """The token that is played for; None for ether, or for nothing."""
        ...

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:
        """What the offer's game may cost us; `payer` (20 bytes) pays in. Raises `ChainError`, `CannotPayIn`,
        `TooFewTokens`, `StakeTooLow` and `ChallengeTooShort`."""
        ...


def new_offer(
    venue: Venue,
    host: bytes,
    payout: bytes,
    stake: int,
    duration: int,
    *,
    seats: int = MIN_SEATS,
    name: str = "",
) -> Offer:
    """A new offer, which is good for a day. Raises `InvalidValue`, and `NotInBook`.

    - `venue`: the game, and the chain that it is played on.
    - `host`: 20 bytes, the address of who offers.
    - `payout`: 20 bytes, the address that the host is paid at.
    - `stake`: of a round, in the smallest unit; each player deposits five stakes.
    - `duration`: of a challenge, in seconds.
    - `seats`: how many play, with the host.
    - `name`: the host's, may be empty.
    """
    return Offer(
        venue.name,
        venue.chain_id,
        venue.adjudicator,
        venue.app,
        asset_of(venue),
        stake,
        stake * DEPOSIT_IN_STAKES,
        duration,
        draw_nonce(),
        host,
        payout,
        int(time.time()) + _OFFER_SECONDS,
        seats,
        name,
    )


def asset_of(venue: Venue) -> bytes:
    """The asset that is played for: 20 bytes, `ETHER` where nothing is."""
    return ETHER if venue.token is None else venue.token.address


def require_ours(offer: Offer, venue: Venue) -> None:
    """Refuse an offer that is not of our chain, our book and our game, or is for another asset. Raises
    `OfferOfAnotherChain` and `OfferDiffers`."""
    offer.require_chain(venue.chain_id)
    for what, offered, ours in (
        ("game", offer.game, venue.name),
        ("adjudicator", offer.adjudicator, venue.adjudicator),
        ("contract of the game", offer.app, venue.app),
        ("asset", offer.asset, asset_of(venue)),
    ):
        if offered != ours:
            raise OfferDiffers(what, offered, ours)
    if offer.seats not in venue.seats:
        raise OfferDiffers("number of players", str(offer.seats), " or ".join(map(str, venue.seats)))


def is_ours(offer: Offer, venue: Venue) -> bool:
    """Whether an offer is of our chain, our book and our game."""
    try:
        require_ours(offer, venue)
    except (OfferOfAnotherChain, OfferDiffers):
        return False
    return True


def agreement_of(offer: Offer, joins: Sequence[Join], game: Game) -> Agreement:
    """The agreement of host and guests, by seat. All make it for themselves from the offer and the joins that they have
    signed. Raises `InvalidValue`."""
    return agree(
        Domain(offer.chain_id, offer.adjudicator),
        FixedPart((offer.host, *(each.guest for each in joins)), offer.nonce, offer.app, offer.duration),
        game,
        offer.stake,
        ((offer.asset, (offer.deposit,) * offer.seats),),
        tuple(address_destination(each) for each in (offer.payout, *(join.payout for join in joins))),
    )


def terms_lines(offer: Offer, title: str, token: TokenFacts | None = None) -> Iterator[str]:
    """The terms of an offer, for people. `title`: of the game. `token`: what the offer's token says of itself."""
    host = f"{shown_name(offer.name)} {show_address(offer.host)}".strip()
    if offer.is_friendly:
        yield f"{title}, a friendly game, offered by {host}"
    else:
        yield f"{title} on chain {offer.chain_id}, offered by {host}"
    if offer.seats > MIN_SEATS:
        yield f"  players      {offer.seats}, with the host"
    if not offer.is_friendly:
        yield f"  stake        {offered_amount(offer, offer.stake, token)} a round"
        yield f"  deposit      {offered_amount(offer, offer.deposit, token)} by each player"
        if offer.asset != ETHER:
            yield f"  token        {show_address(offer.asset)}: its name is its own word, so compare the address"
        yield f"  challenges   {offer.duration:,} seconds to answer one"


def offered_amount(offer: Offer, amount: int, token: TokenFacts | None = None) -> str:
    """An amount of the offer's asset, with all its digits. `token`: what the token says of itself; None for ether, and
    where it was not asked."""
    if offer.asset == ETHER:
        return exact_amount(amount)
    return amount_text(offer.asset, amount) if token is None else exact_tokens(token, amount)


def labelled_lines(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Lines of terms, or of costs, each as its name and its value."""
    return tuple((line[:_NAME_COLUMNS].strip(), line[_NAME_COLUMNS:].strip()) for line in lines)
