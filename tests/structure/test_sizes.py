"""A folder has few enough modules to be read as a list; one with more has a reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.structure.imports import ROOT
from tests.tiers import QUICK, SLOW, WAITING

MOST = 12
REASONS = {
    "channel/forcemove/browser": "what all pages share, from source to server; each kind of page has a room",
    "channel/forcemove/chain": "everything that knows web3, so that nothing else does; five of them are the deployment",
    "channel/forcemove/cli": "a module for each command, and what they share",
    "channel/forcemove/follower": "a module for each thing that is asked, and for what follows from it",
    "channel/forcemove/inspect": "a module for each thing that is inspected, and for each side of it",
    "channel/forcemove/node": "a client without I/O, what carries out what it says, and the node that drives it",
    "channel/forcemove/protocol": "the pure core, in one room with one rule; its order has a line for each",
    "channel/forcemove/sender": "what is asked, offered, decided and told of one account's transactions, a module each",
    "channel/forcemove/store": "a module for each thing that a journal keeps, and for each of the two databases",
    "channel/forcemove/transport": "what clients and servers agree on, a module for each, and what both carriers share",
    "games/forcemove_games/discard": "positions, rules and their parts; a player's secrets, moves and choices; screens",
    "scripts": "a program each; most are run by hand, now and then",
    "scripts/measuring": "a module for each thing that is measured, and what they share",
    "tests/chain": "a file for each part of the room, and servers that stand for nodes",
    "tests/checking": "the world, who acts in it, what must hold, the search, and what is done with what it finds",
    "tests/cli": "a file for each command and each kind of demonstration",
    "tests/games": "a file for each game and each part of the views",
    "tests/node": "a file for each part of the node, and for each way in which it must lose nothing",
    "tests/parity": "the model of the adjudicator, in parts, and what is asked of both",
    "tests/protocol": "a file for each module of channel/forcemove/protocol and its two rooms",
    "tests/readme": "a file for each kind of thing that pages say or show",
    "tests/scenarios": "a file for each kind of thing that happens in a channel, and the world in which it does",
    "tests/sender": "a file for each part of the room, and endpoints that take their time",
    "tests/store": "a file for each thing that a journal keeps, and for each kind of fault",
    "tests/threats": "a file for each group of attacks",
    "tests/watchtower": "a file for each part of the room, and the towers and processes that they are about",
}


def modules(root: Path) -> Counter[str]:
    """How many Python modules each folder has, `__init__` aside."""
    tops = ("channel", "games", "scripts", "tests")
    paths = [path.relative_to(root) for top in tops for path in (root / top).rglob("*.py") if path.stem != "__init__"]
    return Counter(str(path.parent) for path in paths if "node_modules" not in path.parts)


def test_no_folder_is_crowded_without_a_reason() -> None:
    crowded = {folder for folder, count in modules(ROOT).items() if count > MOST}
    assert crowded - REASONS.keys() == set(), "a new room is better than a crowded one"


@pytest.mark.parametrize("folder", REASONS)
def test_a_reason_is_still_needed(folder: str) -> None:
    assert modules(ROOT)[folder] > MOST


def test_a_crowded_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "channel" / "hall").mkdir(parents=True)
    for number in range(MOST + 1):
        (tmp_path / "channel" / "hall" / f"seat{number}.py").touch()
    assert modules(tmp_path) == {"channel/hall": MOST + 1}


def test_what_is_begun_first_or_left_out_is_there() -> None:
    assert [name for name in (*SLOW, *QUICK, *WAITING) if not (ROOT / "tests" / name).exists()] == []
