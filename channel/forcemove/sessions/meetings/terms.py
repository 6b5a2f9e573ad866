"""The terms of an offer, for people, and the channel that follows from an offer and its joins. Asks no relay and no
chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forcemove.chain.addresses import show_address
from forcemove.game import Game
from forcemove.history.tokens import TokenFacts
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.encoding import Domain
from forcemove.protocol.types import ETHER, FixedPart, address_destination
from forcemove.text.amounts import amount_text, exact_amount, exact_tokens
from forcemove.text.durations import duration_text
from forcemove.text.harmless import isolated
from forcemove.text.names import shown_name
from forcemove.transport.joins import Join
from forcemove.transport.offers import MIN_SEATS, Offer

_NAME_COLUMNS = 15
"""Columns of a line's name."""


def agreement_of(offer: Offer, joins: Sequence[Join], game: Game) -> Agreement:
    """The agreement of host and guests, by seat. All make it for themselves from the offer and the joins that they have
    signed. Raises `InvalidValue`."""
    return agree(
        Domain(offer.chain_id, offer.adjudicator),
        FixedPart(
            (offer.host, *(each.guest for each in joins)),
            offer.nonce,
            offer.app,
            offer.duration,
            offer.asset,
            offer.deposit * offer.seats,
        ),
        game,
        offer.stake,
        ((offer.asset, (offer.deposit,) * offer.seats),),
        tuple(address_destination(each) for each in (offer.payout, *(join.payout for join in joins))),
    )


def terms_lines(offer: Offer, title: str, token: TokenFacts | None = None) -> Iterator[str]:
    """The terms of an offer, for people. `title`: of the game. `token`: what the offer's token says of itself."""
    host = f"{isolated(shown_name(offer.name))} {show_address(offer.host)}".strip()
    if offer.is_friendly:
        yield f"{title}, a friendly game, offered by {host}"
    else:
        yield f"{title} on chain {offer.chain_id}, offered by {host}"
    if offer.guest:
        yield f"  for          {show_address(offer.guest)} alone"
    if offer.seats > MIN_SEATS:
        yield f"  players      {offer.seats}, with the host"
    if offer.move_time:
        after = "put it away" if offer.is_friendly else "challenge"
        yield f"  move time    {duration_text(offer.move_time)} for each move; after that the others can {after}"
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
