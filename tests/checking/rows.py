"""What is searched, by name, and what was found there: `python -m tests.checking.rows` searches, and writes
`counts.json`; or, where a promise is broken, `counterexample.json` in the working folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.checking.games import game_named
from tests.checking.replay import Run, write
from tests.checking.search import Found, Search, start
from tests.checking.world import Bounds, Setting

__all__ = ["COUNTS", "ROWS", "Row", "counted"]

COUNTS = Path(__file__).with_name("counts.json")
COUNTEREXAMPLE = Path("counterexample.json")
"""Where the command keeps what breaks a promise."""
_FULL = {"eager": False, "greetings": True, "strays": True, "all_states": True}


@dataclass(frozen=True)
class Row:
    """A search. `game`: as `games.game_named` knows it. `is_long`: not in the normal run. `most_states`: where it
    stops, the shortest runs first; None for everything within the bounds."""

    game: str
    bounds: Bounds
    is_long: bool = False
    most_states: int | None = None

    def setting(self) -> Setting:
        """With nothing wrong."""
        return Setting(game_named(self.game), self.bounds)

    def run(self, most_states: int | None = None) -> Found:
        """Everything within the bounds, up to this many states, or up to the row's."""
        setting = self.setting()
        return Search(setting).run(start(setting), most_states or self.most_states)

    def broken(self, found: Found) -> Run:
        """What has broken a promise, to be kept and replayed."""
        return Run(self.game, self.bounds, found.steps, ends=str(found.violated))


ROWS: Mapping[str, Row] = {
    "every reduction off": Row("ladder 1x2", Bounds(**_FULL)),
    "one transaction": Row("ladder 1x2", Bounds(transactions=1)),
    "a crash": Row("ladder 1x1", Bounds(crashes=1)),
    "a dropped transaction": Row("ladder 1x1", Bounds(drops=1)),
    "a delay of half the margin": Row("ladder 1x1", Bounds(delay=1, ticks=6)),
    "opening, a reorganisation within the confirmations": Row(
        "ladder 1x1", Bounds(opening=True, reorganisations=1, lag=True)
    ),
    "opening, second seat": Row("ladder 1x1", Bounds(seat=1, opening=True)),
    "a liar beside an honest endpoint, opening": Row("ladder 1x1", Bounds(liar=True, opening=True)),
    "a liar beside an honest endpoint, a standstill": Row("ladder 1x1", Bounds(liar=True, stops=1)),
    "a liar beside an honest endpoint, a crash": Row("ladder 1x1", Bounds(liar=True, crashes=1)),
    "tic-tac-toe, two cells": Row("tic-tac-toe", Bounds()),
    "tic-tac-toe, two cells, second seat": Row("tic-tac-toe", Bounds(seat=1)),
    "rock-paper-scissors, a round": Row("rock-paper-scissors", Bounds(), is_long=True),
    "three players": Row("ladder 1x1", Bounds(players=3, seat=2)),
    "rock-paper-scissors, a round, second seat": Row("rock-paper-scissors", Bounds(seat=1), is_long=True),
    "tic-tac-toe, one transaction": Row("tic-tac-toe", Bounds(transactions=1), is_long=True),
    "tic-tac-toe, one transaction, second seat": Row("tic-tac-toe", Bounds(seat=1, transactions=1), is_long=True),
    "one transaction, two choices, second seat": Row("ladder 1x2", Bounds(seat=1, transactions=1), is_long=True),
    "one transaction, every reduction off": Row("ladder 1x2", Bounds(transactions=1, **_FULL), is_long=True),
    "one transaction, a crash": Row("ladder 1x1", Bounds(transactions=1, crashes=1), is_long=True),
    "one transaction, a dropped one": Row("ladder 1x1", Bounds(transactions=1, drops=1), is_long=True),
    "one transaction, a delay": Row("ladder 1x1", Bounds(transactions=1, delay=1, ticks=6), is_long=True),
    "two moves": Row("ladder 2x2", Bounds(transactions=1), is_long=True),
    "three moves": Row("ladder 3x1", Bounds(transactions=1), is_long=True),
    "two transactions": Row("ladder 1x1", Bounds(transactions=2), is_long=True),
    "two transactions, a crash, the first million states": Row(
        "ladder 1x1", Bounds(transactions=2, crashes=1), is_long=True, most_states=1_000_000
    ),
    "opening, one transaction": Row("ladder 1x1", Bounds(opening=True, transactions=1), is_long=True),
    "opening, one transaction, second seat": Row(
        "ladder 1x1", Bounds(seat=1, opening=True, transactions=1), is_long=True
    ),
    "a reorganisation beyond the confirmations": Row(
        "ladder 1x1", Bounds(transactions=1, reorganisations=1), is_long=True
    ),
    "a liar beside an honest endpoint, opening, a standstill": Row(
        "ladder 1x1", Bounds(liar=True, opening=True, stops=1), is_long=True
    ),
    "a liar beside an honest endpoint, a standstill, one transaction": Row(
        "ladder 1x1", Bounds(liar=True, stops=1, transactions=1), is_long=True
    ),
    "three players, first seat, two moves": Row("ladder 2x1", Bounds(players=3), is_long=True),
    "three players, two moves": Row("ladder 2x1", Bounds(players=3, seat=2), is_long=True),
    "three players, one transaction": Row("ladder 1x1", Bounds(players=3, seat=2, transactions=1), is_long=True),
    "three players, two moves, one transaction, the first half million states": Row(
        "ladder 2x1", Bounds(players=3, seat=2, transactions=1), is_long=True, most_states=500_000
    ),
}


def counted(found: Found) -> dict[str, int]:
    """What is compared; seconds are not."""
    return {"states": found.states, "transitions": found.transitions, "way_out_ticks": found.longest_way_out}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("names", nargs="*", help="of rows; all of them if none is named")
    names = parser.parse_args().names or list(ROWS)
    kept = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    for name in names:
        found = ROWS[name].run()
        rate = found.transitions / found.seconds
        print(f"{name}: {found.states:,} states, {found.transitions:,} transitions", end=" ")
        print(f"in {found.seconds:.1f} s ({rate:,.0f}/s)")
        if found.violated is not None:
            write(ROWS[name].broken(found), COUNTEREXAMPLE)
            print(found.violated, *found.steps, sep="\n  ")
            print(f"To see it step by step: python -m tests.checking.replay {COUNTEREXAMPLE}")
            return 1
        kept[name] = counted(found) | {"seconds": round(found.seconds, 1)}
        COUNTS.write_text(json.dumps({each: kept[each] for each in ROWS if each in kept}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
