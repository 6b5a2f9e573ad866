"""A stake, played for on a page: the chain through the player's nodes, and what is not done for money there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.chain.derived_book import derived_book
from forcemove.chain.errors import WrongChain
from forcemove.chain.genuine import adjudicator_artifact, require_genuine_contract
from forcemove.chain.json_rpc import JsonRpcTransport
from forcemove.chain.posting import AskProvider, PostConnection, ProviderTransport
from forcemove.chain.rpc import RpcTransport
from forcemove.game import Game
from forcemove.inspect.journal_channel import read_channels
from forcemove.link_page.stake_settings import WALLET_NODE, StakeSettings
from forcemove.sessions.errors import StakesRefused
from forcemove.sessions.meetings.stake_limits import StakeLimits, deposited_in

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_LEAST_DURATION = 3600
"""Seconds of a challenge: a page is closed sooner than a command."""
_MAINNET = 1
_NOT_KEPT = (
    "this browser may delete what the page keeps whenever it likes, and no watchtower is named that would answer then"
)


@dataclass(frozen=True)
class Stake:
    """What a tab needs to play for a stake: the chain through each endpoint, its address book, and the settings."""

    settings: StakeSettings
    chains: tuple[Chain, ...]
    book: AddressBook
    limits: StakeLimits


def stake_of(settings: StakeSettings, games: Sequence[Game], wallet: AskProvider, *, is_kept: bool) -> Stake:
    """The chain of settings that were checked before; no node is asked yet.

    - `settings`: the player's.
    - `games`: those that can be played.
    - `wallet`: asks the wallet in the browser.
    - `is_kept`: whether the browser has promised to keep the page's data.
    """
    chain_id, way = settings.chain_id, partial(_transport, wallet)
    chains = tuple(Chain(way(each), each, expected_chain_id=chain_id) for each in settings.endpoints)
    refusal = "" if is_kept or settings.tower else _NOT_KEPT
    return Stake(settings, chains, derived_book(chain_id, games), StakeLimits(settings.most, _LEAST_DURATION, refusal))


def checked(settings: StakeSettings, games: Sequence[Game], wallet: AskProvider, *, is_kept: bool) -> StakeSettings:
    """Settings with the chain's id, once every node has named the same, and one has shown the contracts. Waits for the
    nodes. The parameters are those of `stake_of`. Raises `ChainError`, `WrongChain`, `NoContract`, `StakesRefused`."""
    if not (is_kept or settings.tower):
        raise StakesRefused(_NOT_KEPT)
    chains = [Chain(_transport(wallet, each), each) for each in settings.endpoints]
    chain_id = chains[0].chain_id
    for each in chains:
        if each.chain_id != chain_id:
            raise WrongChain(each.endpoint, chain_id, each.chain_id)
    if chain_id == _MAINNET:
        raise StakesRefused("this is Ethereum's main network, and a page is trusted with little")
    book = derived_book(chain_id, games)
    require_genuine_contract(chains[0], adjudicator_artifact(), book.adjudicator, book.factory)
    return replace(settings, chain_id=chain_id)


def require_no_other_chain(journal: Journal, games: Sequence[Game], chain_id: int) -> None:
    """Refuse a chain while channels on another one are not closed, which nobody would defend then. Raises
    `StakesRefused`.

    - `journal`: has the channels.
    - `games`: those that can be played.
    - `chain_id`: of the chain that is wanted.
    """
    found, _ = read_channels(journal, games)
    for each in sorted({each.chain_id for each in found if deposited_in([each.channel])} - {chain_id}):
        raise StakesRefused(f"games on chain {each} are not closed, and nobody would defend them on chain {chain_id}")


def _transport(wallet: AskProvider, endpoint: str) -> RpcTransport:
    if endpoint == WALLET_NODE:
        return ProviderTransport(wallet, endpoint)
    return JsonRpcTransport(PostConnection(endpoint), endpoint)
