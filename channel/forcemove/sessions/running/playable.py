"""The games that can be played here: each installed game, on the chain and without one. Asks no chain and no relay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.game import Game
from forcemove.history.tokens import TokenFacts
from forcemove.protocol.encoding import NO_CHAIN
from forcemove.protocol.types import ETHER
from forcemove.sessions.meetings.venues import FriendlyGame, GameOnChain, GamePlace, asset_of, is_ours
from forcemove.transport.offers import Offer


@dataclass(frozen=True)
class PlayableGame:
    """A game that can be played here. `chain_venue`: its chain and token, None where it is played for nothing."""

    game: Game
    chain_venue: GameOnChain | None

    @property
    def venue(self) -> GamePlace:
        """The game and its chain, or no chain, as offers name it."""
        return self.chain_venue or FriendlyGame(self.game.name, self.game.title, self.game.seats)

    @property
    def chain_id(self) -> int:
        """The chain's id, 0 where there is none."""
        return self.chain_venue.chain_id if self.chain_venue else NO_CHAIN

    @property
    def token(self) -> TokenFacts | None:
        """The token that it is played for; None for ether, or for nothing."""
        return self.chain_venue.token if self.chain_venue else None


def playable_games(
    games: Sequence[Game], chains: Sequence[Chain], book: AddressBook | None, token: TokenFacts | None = None
) -> tuple[PlayableGame, ...]:
    """Each game without a chain; and on the chain, where there is one and `book` has the game's contract.

    - `games`: those that are installed.
    - `chains`: the chain through each endpoint.
    - `book`: of the chain; None where there is none.
    - `token`: one that is played for besides ether.
    """
    return tuple(_each(games, tuple(chains), book, token))


def _each(
    games: Sequence[Game], chains: tuple[Chain, ...], book: AddressBook | None, token: TokenFacts | None
) -> Iterator[PlayableGame]:
    for game in games:
        if chains and book is not None and game.artifact.name in book.contracts:
            yield PlayableGame(game, GameOnChain(chains, book, game))
            if token is not None:
                yield PlayableGame(game, GameOnChain(chains, book, game, token))
        yield PlayableGame(game, None)


def token_of(playable: Sequence[PlayableGame]) -> TokenFacts | None:
    """The token that is played for besides ether; None for none."""
    return next((each.token for each in playable if each.token is not None), None)


def find_playable(
    playable: Sequence[PlayableGame], name: str, chain_id: int, asset: bytes = ETHER
) -> PlayableGame | None:
    """The game of this name, None where it cannot be played here.

    - `playable`: the games that can.
    - `name`: of the game.
    - `chain_id`: 0 for none.
    - `asset`: what it is played for, 20 bytes.
    """
    wanted = name, chain_id, asset
    return next((each for each in playable if (each.game.name, each.chain_id, asset_of(each.venue)) == wanted), None)


def resumable(playable: Sequence[PlayableGame], name: str, chain_id: int, asset: bytes) -> PlayableGame | None:
    """The game as what the journal has of it is continued: for its asset, and where that is none that is played for
    here, for ether, so that only the token's name is missing. The parameters are those of `find_playable`."""
    return find_playable(playable, name, chain_id, asset) or find_playable(playable, name, chain_id)


def playable_for(playable: Sequence[PlayableGame], offer: Offer) -> PlayableGame | None:
    """The game that an offer is for; None where it cannot be played here: it is of another chain, another book, for
    another token, or a game that is not installed."""
    found = find_playable(playable, offer.game, offer.chain_id, offer.asset)
    return found if found is not None and is_ours(offer, found.venue) else None
