"""The address book of contracts that were deployed through the customary factory: their addresses follow from what they
were compiled to, so that no file is needed."""

from __future__ import annotations

from collections.abc import Iterable

from forcemove.artifact import Artifact
from forcemove.chain.book import AddressBook, Deployed
from forcemove.chain.create2 import CUSTOMARY_FACTORY, derived_address
from forcemove.chain.genuine import adjudicator_artifact
from forcemove.game import PlayableApp


def derived_book(chain_id: int, games: Iterable[PlayableApp]) -> AddressBook:
    """The book of a chain: the adjudicator, and the contracts of these games. Whether they are there the chain says."""
    ours = adjudicator_artifact()
    contracts = {each.name: _deployed(each) for each in (ours, *(game.artifact for game in games))}
    return AddressBook(chain_id, CUSTOMARY_FACTORY, ours.compiler_version, ours.compiler_settings, contracts)


def _deployed(contract: Artifact) -> Deployed:
    return Deployed(derived_address(contract), contract.creation_code_hash, contract.source_hash, None, 0)
