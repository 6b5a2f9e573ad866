"""Where a game is played: on a chain, or on none; the offer to make there, and the offers to accept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.chain.book import AddressBook, NotInBook
from forcemove.chain.chain import Chain, answering, answers
from forcemove.chain.prices import dearest
from forcemove.chain.token import Token
from forcemove.game import Game
from forcemove.history.tokens import TokenFacts
from forcemove.node.assemble import Assembly, begin, reassemble
from forcemove.node.nonces import draw_nonce
from forcemove.node.policy import Conditions, Costs, Policy, ask_conditions, costs_of
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES, Agreement
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import ETHER, ZERO_ADDRESS
from forcemove.sessions import errors
from forcemove.sessions.meetings.terms import agreement_of, offered_amount
from forcemove.text.amounts import format_amount
from forcemove.transport.joins import Join
from forcemove.transport.offers import MIN_SEATS, Offer, OfferOfAnotherChain
from forcemove.workers.chain_defaults import default_confirmations

_DIGITS = 3
_OFFER_SECONDS = 24 * 60 * 60
_POLICY = Policy()


@dataclass(frozen=True)
class FriendlyGame:
    """A game without a chain and without a stake. `name`: in offers; `title`: for people; `seats`: how many can play,
    rising. The addresses, the chain's id and the token stand for none."""

    name: str
    title: str
    seats: Sequence[int] = (2,)
    token = None
    chain_id = NO_CHAIN
    adjudicator = ZERO_ADDRESS
    app = ZERO_ADDRESS

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:  # noqa: ARG002  # as a chain's
        """No lines: it costs nothing."""
        return ["  costs        nothing: it is a friendly game, without a chain"]


@dataclass(frozen=True)
class GameOnChain:
    """A chain through each endpoint, at least one; the address book that names its contracts, the game, and the token
    that is played for, None for ether. Its questions to the chain take some seconds where an endpoint hangs."""

    chains: tuple[Chain, ...]
    book: AddressBook
    game: Game
    token: TokenFacts | None = None

    @property
    def name(self) -> str:
        """The game's name in offers."""
        return self.game.name

    @property
    def title(self) -> str:
        """The game's name for people."""
        return self.game.title

    @property
    def chain_id(self) -> int:
        """The chain's id."""
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
        """How many can play the game, rising."""
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
            tokens=() if self.token is None else (self.token,),
        )

    def require_playable(self, agreement: Agreement, index: int) -> None:
        """Refuse an agreement that the policy refuses at the present price of gas. Raises `StakeTooLow`,
        `ChallengeTooShort`, and `ChainError`."""
        conditions = self._conditions()
        costs = costs_of(agreement, index, conditions, self.game)
        if (least := _POLICY.least_deposit(costs)) > costs.ether:
            raise errors.StakeTooLow(_rounded_up(-(-least // DEPOSIT_IN_STAKES)))
        duration = agreement.fixed_part.challenge_duration
        needed = _POLICY.least_duration(self.chain_id, self.confirmations, conditions.block_time)
        if duration < needed:
            raise errors.ChallengeTooShort(duration, needed)

    def costs_lines(self, offer: Offer, payer: bytes) -> Sequence[str]:
        """What the offer's game may cost us at the present fees; `payer` (20 bytes) pays in. Raises `ChainError`,
        `CannotPayIn`, `TooFewTokens`, `StakeTooLow`, `ChallengeTooShort` and `MoveTimeTooShort`."""
        anybody = [keccak256(bytes([seat]))[:20] for seat in range(1, offer.seats)]
        joins = tuple(Join(offer.hash, each, each) for each in anybody)  # the costs do not depend on who joins
        agreement = agreement_of(offer, joins, self.game)
        self.require_playable(agreement, 0)
        conditions = self._conditions()
        self._require_move_time(offer.move_time, conditions)
        costs = costs_of(agreement, 0, conditions, self.game)
        self._require_funds(payer, offer, costs)
        usual, disputes = format_amount(costs.usual), format_amount(costs.disputes)
        deposit = offered_amount(offer, offer.deposit, self.token)
        return [
            f"  at most lost {deposit}: all of it, if you stay away from a challenge until its end",
            f"  gas          about {usual}; {disputes} more for six disputes",
        ]

    def _require_move_time(self, move_time: int, conditions: Conditions) -> None:
        """Refuse a time for a move that nobody could keep. Raises `MoveTimeTooShort`."""
        needed = _POLICY.least_move_time(self.chain_id, self.confirmations, conditions.block_time)
        if 0 < move_time < needed:
            raise errors.MoveTimeTooShort(move_time, needed)

    def _require_funds(self, payer: bytes, offer: Offer, costs: Costs) -> None:
        """Refuse what the payer (20 bytes) cannot pay. Raises `CannotPayIn`, `TooFewTokens`, `ChainError`."""
        has, needed = min(answers(self.chains, lambda chain: chain.balance.steps(payer))), costs.ether + costs.usual
        if has < needed:
            raise errors.CannotPayIn(payer, has, needed)
        if offer.asset == ETHER:
            return
        tokens = min(answers(self.chains, lambda chain: Token(chain, offer.asset).balance_of.steps(payer)))
        if tokens < offer.deposit:
            raise errors.TooFewTokens(payer, offer.asset, tokens, offer.deposit)

    def _conditions(self) -> Conditions:
        """The highest fees, the slowest blocks and the dearest prices that an endpoint shows."""
        found = answers(self.chains, ask_conditions)
        return Conditions(
            max((each.fees for each in found), key=lambda fees: fees.max_fee_per_gas),
            max(each.block_time for each in found),
            dearest(each.prices for each in found),
        )


GamePlace = GameOnChain | FriendlyGame
"""A game, and the chain that it is played on, or none."""


def new_offer(
    venue: GamePlace,
    host: bytes,
    payout: bytes,
    stake: int,
    duration: int,
    *,
    seats: int = MIN_SEATS,
    name: str = "",
    move_time: int = 0,
    guest: bytes = b"",
) -> Offer:
    """A new offer, which is good for a day. Raises `InvalidValue`, and `NotInBook`.

    - `venue`: the game, and the chain that it is played on.
    - `host`: 20 bytes, the address of who offers.
    - `payout`: 20 bytes, the address that the host is paid at.
    - `stake`: of a round, in the smallest unit; each player deposits five stakes.
    - `duration`: of a challenge, in seconds.
    - `seats`: how many play, with the host.
    - `name`: the host's, may be empty.
    - `move_time`: seconds that each has for a move, 0 for any.
    - `guest`: 20 bytes, the only one who may join, empty for anybody.
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
        move_time,
        guest,
    )


def asset_of(venue: GamePlace) -> bytes:
    """The asset that is played for: 20 bytes, `ETHER` where nothing is."""
    return ETHER if venue.token is None else venue.token.address


def require_ours(offer: Offer, venue: GamePlace) -> None:
    """Refuse an offer that is not of our chain, our book and our game, or is for another asset. Raises
    `OfferOfAnotherChain`, `OfferDiffers` and `GameNotInBook`."""
    offer.require_chain(venue.chain_id)
    try:
        adjudicator, app = venue.adjudicator, venue.app
    except NotInBook as error:
        raise errors.GameNotInBook(error.contract, venue.chain_id) from None
    for what, offered, ours in (
        ("game", offer.game, venue.name),
        ("adjudicator", offer.adjudicator, adjudicator),
        ("contract of the game", offer.app, app),
        ("asset", offer.asset, asset_of(venue)),
    ):
        if offered != ours:
            raise errors.OfferDiffers(what, offered, ours)
    if offer.seats not in venue.seats:
        raise errors.OfferDiffers("number of players", str(offer.seats), " or ".join(map(str, venue.seats)))


def is_ours(offer: Offer, venue: GamePlace) -> bool:
    """Whether an offer is of our chain, our book and our game."""
    try:
        require_ours(offer, venue)
    except (OfferOfAnotherChain, errors.OfferDiffers, errors.GameNotInBook):
        return False
    return True


def _rounded_up(amount: int) -> int:
    """An amount with three digits, so that people can type it."""
    unit: int = 10 ** max(len(str(amount)) - _DIGITS, 0)
    return -(-amount // unit) * unit
