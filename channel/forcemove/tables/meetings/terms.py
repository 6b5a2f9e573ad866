"""The terms of a game: the offer to make, the offers to accept, and the channel that follows from an offer and a join.
Asks no relay."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from forcemove.chain.addresses import show_address
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.game import Game
from forcemove.node.assemble import Assembly, begin, reassemble
from forcemove.node.nonces import draw_nonce
from forcemove.node.policy import (
    Conditions,
    Costs,
    Policy,
    costs_of,
    default_confirmations,
    read_conditions,
)
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES, Agreement, agree
from forcemove.protocol.encoding import NO_CHAIN, Domain
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.outcome import address_destination
from forcemove.protocol.types import ETHER, ZERO_ADDRESS, FixedPart
from forcemove.tables.asking import answering, answers
from forcemove.tables.errors import CannotPayIn, ChallengeTooShort, OfferDiffers, StakeTooLow
from forcemove.text.amounts import exact_amount, format_amount
from forcemove.text.names import shown_name
from forcemove.transport.joins import Join
from forcemove.transport.offers import MIN_SEATS, Offer, OfferOfAnotherChain

__all__ = [
    "ChainVenue",
    "FriendlyVenue",
    "Venue",
    "agreement_of",
    "is_ours",
    "labelled_lines",
    "new_offer",
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

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:
        """What the offer's game may cost us; `payer` (20 bytes) pays in. Raises `ChainError`, `CannotPayIn`,
        `StakeTooLow` and `ChallengeTooShort`."""
        ...


@dataclass(frozen=True)
class FriendlyVenue:
    """A game without a chain and without a stake."""

    name: str
    title: str
    seats: Sequence[int] = (2,)
    chain_id = NO_CHAIN
    adjudicator = ZERO_ADDRESS
    app = ZERO_ADDRESS

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:  # noqa: ARG002  # the port's
        """No lines: it costs nothing."""
        return ["  costs        nothing: it is a friendly game, without a chain"]


@dataclass(frozen=True)
class ChainVenue:
    """A chain through each endpoint, at least one; the address book that names its contracts, and the game. Its
    questions to the chain take some seconds where an endpoint hangs."""

    chains: tuple[Chain, ...]
    book: AddressBook
    game: Game

    @property
    def name(self) -> str:
        """See `Venue`."""
        return self.game.name

    @property
    def title(self) -> str:
        """See `Venue`."""
        return self.game.title

    @property
    def chain_id(self) -> int:
        """See `Venue`."""
        return self.chains[0].chain_id

    @property
    def adjudicator(self) -> bytes:
        """The adjudicator's address in our book, 20 bytes. Raises `NotInBook`."""
        return self.book.adjudicator

    @property
    def app(self) -> bytes:
        """The game's contract in our book, 20 bytes. Raises `NotInBook`."""
        return self.book.find(self.game.artifact.name).address

    @property
    def seats(self) -> Sequence[int]:
        """See `Venue`."""
        return self.game.seats

    @property
    def confirmations(self) -> int:
        """How deep a log must be to be believed."""
        return default_confirmations(self.chain_id)

    def assemble(self, agreement: Agreement) -> Assembly:
        """A new channel, which has no logs yet, through every endpoint. The endpoints that answer now say at which
        block it begins, see `node.assemble.begin`. Raises `ChainError`."""
        there = answering(self.chains)
        new = begin(there[0], agreement, self.game, factory=self.book.factory, others=there[1:])
        return reassemble(
            self.chains[0],
            agreement,
            self.game,
            factory=self.book.factory,
            from_block=new.from_block,
            others=self.chains[1:],
            origin_hash=new.origin_hash,
        )

    def require_playable(self, agreement: Agreement, index: int) -> None:
        """Refuse an agreement that the policy refuses at the present price of gas. Raises `StakeTooLow`,
        `ChallengeTooShort`, and `ChainError`."""
        conditions = self._conditions()
        costs = costs_of(agreement, index, conditions.fees, self.game.dispute_gas)
        if (least := _POLICY.least_deposit(costs)) > costs.ether:
            raise StakeTooLow(_rounded_up(-(-least // DEPOSIT_IN_STAKES)))
        duration = agreement.fixed_part.challenge_duration
        needed = _POLICY.least_duration(self.chain_id, self.confirmations, conditions.block_time)
        if duration < needed:
            raise ChallengeTooShort(duration, needed)

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:
        """See `Venue`. The costs are those at the present fees."""
        anybody = [keccak256(bytes([seat]))[:20] for seat in range(1, offer.seats)]
        joins = tuple(Join(offer.hash, each, each) for each in anybody)  # the costs do not depend on who joins
        agreement = agreement_of(offer, joins, self.game)
        self.require_playable(agreement, 0)
        costs = costs_of(agreement, 0, self._conditions().fees, self.game.dispute_gas)
        _require_funds(min(answers(self.chains, lambda chain: chain.balance(payer))), payer, costs)
        usual, disputes = format_amount(costs.usual), format_amount(costs.disputes)
        return [
            f"  at most lost {exact_amount(costs.ether)}: all of it, if you stay away from a challenge until its end",
            f"  gas          about {usual}; {disputes} more for six disputes",
        ]

    def _conditions(self) -> Conditions:
        """The highest fees and the slowest blocks that an endpoint shows."""
        found = answers(self.chains, read_conditions)
        return Conditions(
            max((each.fees for each in found), key=lambda fees: fees.max_fee_per_gas),
            max(each.block_time for each in found),
        )


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
    - `stake`: of a round, in wei; each player deposits five stakes.
    - `duration`: of a challenge, in seconds.
    - `seats`: how many play, with the host.
    - `name`: the host's, may be empty.
    """
    return Offer(
        venue.name,
        venue.chain_id,
        venue.adjudicator,
        venue.app,
        ETHER,
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


def require_ours(offer: Offer, venue: Venue) -> None:
    """Refuse an offer that is not of our chain, our book and our game, or not for ether. Raises `OfferOfAnotherChain`
    and `OfferDiffers`."""
    offer.require_chain(venue.chain_id)
    for what, offered, ours in (
        ("game", offer.game, venue.name),
        ("adjudicator", offer.adjudicator, venue.adjudicator),
        ("contract of the game", offer.app, venue.app),
        ("asset", offer.asset, ETHER),
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


def terms_lines(offer: Offer, title: str) -> Iterator[str]:
    """The terms of an offer, for people. `title`: of the game."""
    host = f"{shown_name(offer.name)} {show_address(offer.host)}".strip()
    if offer.is_friendly:
        yield f"{title}, a friendly game, offered by {host}"
    else:
        yield f"{title} on chain {offer.chain_id}, offered by {host}"
    if offer.seats > MIN_SEATS:
        yield f"  players      {offer.seats}, with the host"
    if not offer.is_friendly:
        yield f"  stake        {exact_amount(offer.stake)} a round"
        yield f"  deposit      {exact_amount(offer.deposit)} by each player"
        yield f"  challenges   {offer.duration:,} seconds to answer one"


def labelled_lines(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Lines of terms, or of costs, each as its name and its value."""
    return tuple((line[:_NAME_COLUMNS].strip(), line[_NAME_COLUMNS:].strip()) for line in lines)


def _require_funds(has: int, account: bytes, costs: Costs) -> None:
    needed = costs.ether + costs.usual
    if has < needed:
        raise CannotPayIn(account, has, needed)


def _rounded_up(amount: int) -> int:
    """An amount with three digits, so that people can type it."""
    unit: int = 10 ** max(len(str(amount)) - _DIGITS, 0)
    return -(-amount // unit) * unit
