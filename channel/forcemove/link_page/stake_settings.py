"""What a player has typed so that a page may play for a stake. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from forcemove.chain.addresses import parse_address, show_address
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.text.amounts import exact_amount, parse_amount
from forcemove.text.explanations import headline
from forcemove.watchtower.client import TowerClient

USUAL_MOST = 5 * 10**16
"""Wei that may lie in channels unless the player types another number."""
WALLET_NODE = "wallet"
"""Stands for the node that the wallet has, among addresses."""
_MOST_ENDPOINTS = 5
_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class StakeForm:
    """The form of the page, as it was typed. `endpoints`: one a line; `account`: the wallet's; `most`: ether that may
    lie in channels; `tower`: ADDRESS@URL, or empty; `has_agreed`: whether the box is ticked."""

    endpoints: str = ""
    account: str = ""
    most: str = exact_amount(USUAL_MOST)
    tower: str = ""
    has_agreed: bool = False


@dataclass(frozen=True, slots=True)
class StakeSettings:
    """How a page plays for a stake.

    - `endpoints`: addresses of nodes, or `WALLET_NODE`; at least one.
    - `account`: of the wallet that pays in, pays the gas and is paid, 20 bytes.
    - `most`: wei that may lie in channels that are not closed.
    - `tower`: the watchtower that answers while the page is closed, None for none.
    - `chain_id`: the chain's; 0 before a node has named it.
    """

    endpoints: tuple[str, ...]
    account: bytes
    most: int
    tower: TowerClient | None = None
    chain_id: int = 0

    @property
    def typed(self) -> StakeForm:
        """The form that says this."""
        tower = f"{show_address(self.tower.tower)}@{self.tower.url}" if self.tower else ""
        lines = "\n".join(self.endpoints)
        return StakeForm(lines, show_address(self.account), exact_amount(self.most), tower, has_agreed=True)

    def encode(self) -> bytes:
        """As it is kept."""
        typed = self.typed
        kept = {"endpoints": typed.endpoints, "account": typed.account, "most": typed.most, "tower": typed.tower}
        return json.dumps(kept | {"chain": self.chain_id}).encode()

    @classmethod
    def decode(cls, data: bytes) -> StakeSettings | None:
        """What was kept; None where nothing is, or nothing that makes sense."""
        try:
            kept: Mapping[str, Any] = json.loads(data)
            texts = {name: str(text) for name, text in kept.items()}
            found, chain_id = read_typed(form_of(texts, has_agreed=True)), int(kept["chain"])
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return None if isinstance(found, str) else replace(found, chain_id=chain_id)


def form_of(texts: Mapping[str, str], *, has_agreed: bool) -> StakeForm:
    """A form by the names of its fields; one that is missing is empty."""
    endpoints, account, most, tower = (texts.get(name, "") for name in ("endpoints", "account", "most", "tower"))
    return StakeForm(endpoints, account, most, tower, has_agreed)


def read_typed(typed: StakeForm) -> StakeSettings | str:
    """What a form says, or what is wrong with it."""
    endpoints = tuple(dict.fromkeys(typed.endpoints.split()))
    if not endpoints or len(endpoints) > _MOST_ENDPOINTS:
        return f"Name at least one node of the chain, and at most {_MOST_ENDPOINTS}, one a line."
    for each in endpoints:
        if each != WALLET_NODE and not each.startswith(_SCHEMES):
            return f"{each!r:.80} is not a node's address: it begins with https://."
    most = parse_amount(typed.most)
    if not most:
        return f"{typed.most!r:.60} is not an amount: write for example 0.05 ether."
    try:
        account = parse_address(typed.account)
        tower = _tower(typed.tower.strip())
    except ForcemoveError as error:
        return headline(error)
    if not typed.has_agreed:
        return "Tick the box once you have read what stands beside it."
    return StakeSettings(endpoints, account, most, tower)


def _tower(text: str) -> TowerClient | None:
    """Raises `MalformedBytes`, `InvalidValue`."""
    if not text:
        return None
    address, separator, url = text.partition("@")
    if not separator:
        raise InvalidValue("watchtower", text[:200], "its address and URL, such as 0x…@https://tower.example")
    return TowerClient(url, parse_address(address))
