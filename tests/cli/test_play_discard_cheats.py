"""Discard over a relay with a guest whose program cheats: the host's says who did what, and nothing counts."""

from __future__ import annotations

import pytest

from tests.cli.tables import House, link_of
from tests.sampled import with_sample

SAMPLE = ("wrong keys", "false audit")
"""Of the normal run."""
CREATE = ("--create", "--stake", "0")
FORGED = """
from msgspec.structs import replace
from forcemove_games.discard_sra import demonstration
from forcemove_games.discard_sra.table import CannotMove
from forcemove_games.sra.table import AllKeys, Deal, Deck, DiscardCard, Draw, Serve, TurnUp
from tests.games.discard_sra.mallory import Forging, instead, only

honest = demonstration.open_queue


async def forged(log, name):
    return await honest(Forging(log, {forge}), name)


demonstration.open_queue = forged
"""
"""A program that is ours but for what it says."""


CHEATS = {
    "false deck": ("instead(Deck, lambda deck: replace(deck, numbers=deck.numbers[1:]))", "WrongCount"),
    "too few keys": ("instead(Deal, lambda deal: replace(deal, keys=deal.keys[1:]))", "WrongCount"),
    "wrong keys": ("instead(Deal, lambda deal: replace(deal, keys=deal.keys[::-1]))", "NoSuchCard"),
    "twice": ("instead(Deal, lambda deal: (deal, deal))", "UnexpectedAction"),
    "something else": ("instead(TurnUp, lambda _: CannotMove('Guest'))", "UnexpectedAction"),
    "hidden card": ("only(TurnUp, index=11)", "KeyNotDue"),
    "rubbish": ("only(TurnUp, key='00')", "MalformedAction"),
    "false audit": ("instead(AllKeys, lambda said: replace(said, keys=said.keys[::-1]))", "NoSuchCard"),
}
"""What the guest says, and what that is."""


@pytest.mark.parametrize("cheat", with_sample(CHEATS, SAMPLE))
def test_who_cheats_is_named_and_nothing_counts(house: House, cheat: str) -> None:
    forge, fault = CHEATS[cheat]
    host = house.play(house.alice, *CREATE, game="discard-sra")
    forged = FORGED.format(forge=forge)
    house.play(house.bob, "--join", link_of(host), "--yes", game="discard-sra", before=forged)
    assert host.end() == 1
    again = house.play(house.alice, game="discard-sra")
    assert again.end() == 1, "the log is what it was"
    for said in (host, again):
        assert "The counterparty is at fault" in said.complained
        assert f"({fault}: " in said.complained
        assert "Guest" in said.complained
        assert "every turn was legal" not in said.said
