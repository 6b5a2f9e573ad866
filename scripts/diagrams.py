#!/usr/bin/env python3
"""Writes what the pages show of the code between their markers: the demonstration, diagrams, gas, the smallest app,
the rooms, the documents of `--json`, and the names of the API reference.

    scripts/diagrams.py             bring the pages up to date
    scripts/diagrams.py --check     only say what is stale (exit status 1)

The games' diagrams come from their rule tables, the channel's from the machine's phase table and `LIFE`, the gas from
the snapshots in `tests/gas`, the rooms from imports (`scripts/rooms.py`), the reference from docstrings
(`scripts/reference.py`). The demonstration is played: see `scripts/excerpt.py`. Runs in the project's environment.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.cli.games import TABLE_GROUP  # noqa: E402
from forcemove.game import Game  # noqa: E402
from forcemove.protocol.machine.automatic_actions import AUTOMATIC_ACTIONS  # noqa: E402
from forcemove.protocol.machine.channel import Phase  # noqa: E402
from forcemove.registry import installed_games  # noqa: E402
from scripts.documents import declarations  # noqa: E402
from scripts.excerpt import excerpt, figures_aside  # noqa: E402
from scripts.reference import PUBLIC, reference  # noqa: E402
from scripts.rooms import rooms_picture, rooms_table  # noqa: E402

_OURS = "forcemove"
PAGES_IN = ROOT
README, CHANNEL, GAMES, CONTRACTS = "README.md", "channel/README.md", "games/README.md", "contracts/README.md"
COMMANDS = "docs/commands.md"
REFERENCE = {f"api-{name}": f"docs/api/{name}.md" for name in PUBLIC}
"""The parts of the API reference, and the pages that show them."""
PAGES = (README, CHANNEL, GAMES, CONTRACTS, COMMANDS, *REFERENCE.values())
PAGE_OF = {
    "demo": CHANNEL,
    "documents": COMMANDS,
    "gas": README,
    "further-gas": CONTRACTS,
    "life": CHANNEL,
    "rooms-picture": CHANNEL,
    "rooms": CHANNEL,
    **REFERENCE,
}
"""The page that shows a part; what is not named here belongs to the games' page."""
SNAPSHOT = ROOT / "tests" / "gas" / "snapshot.json"
AMSTERDAM = SNAPSHOT.with_name("amsterdam.json")
SMALLEST_APP = ROOT / "contracts" / "test" / "CountingApp.sol"

# --------------------------------------------------------------------------------------------------- the channel's life


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a channel from one phase to another, and who signs or sends. A test plays every one of them."""

    from_phase: Phase
    to_phase: Phase
    what: str


LIFE = (
    Step(Phase.CHECKING, Phase.PREFUND, "the contracts are genuine (nobody signs)"),
    Step(Phase.PREFUND, Phase.FUNDING, "every participant has signed its prefund state"),
    Step(Phase.FUNDING, Phase.PLAYING, "all have deposited and signed their postfund states"),
    Step(Phase.FUNDING, Phase.CONCLUDING, "the mover signs a final state"),
    Step(Phase.PLAYING, Phase.CONCLUDING, "the mover signs a final state"),
    Step(Phase.CONCLUDING, Phase.CLOSED, "one sends conclude with all signatures, and all are paid"),
    Step(Phase.CONCLUDING, Phase.FINALIZED, "the same, but not everything was deposited"),
    Step(Phase.PREFUND, Phase.CHALLENGED, "a counterparty sends challenge"),
    Step(Phase.FUNDING, Phase.CHALLENGED, "a participant sends challenge"),
    Step(Phase.PLAYING, Phase.CHALLENGED, "a participant sends challenge"),
    Step(Phase.CONCLUDING, Phase.CHALLENGED, "a participant sends challenge"),
    Step(Phase.CHALLENGED, Phase.FUNDING, "the mover signs and sends respond, or anyone sends checkpoint"),
    Step(Phase.CHALLENGED, Phase.PLAYING, "the mover signs and sends respond, or anyone sends checkpoint"),
    Step(Phase.CHALLENGED, Phase.CONCLUDING, "the mover responds with a final state"),
    Step(Phase.CHALLENGED, Phase.CLOSED, "anyone sends conclude with all signatures"),
    Step(Phase.CHALLENGED, Phase.FINALIZED, "the time is up (nobody signs)"),
    Step(Phase.FINALIZED, Phase.CLOSED, "anyone sends transfer, and all are paid"),
)

_DOING = {
    "_sign_setup": "the mover signs the next setup state",
    "_deposit": "each sends its deposit, in order",
    "_sign_final": "a mover that leaves signs the final state",
    "_ask_for_move": "the mover signs a move",
    "_countersign": "the others sign the final state",
    "_conclude": "its maker sends conclude, else another",
    "_answer": "a participant with an answer sends it",
    "_collect": "anyone sends transfer",
    "_collect_credit": "a participant with a credit sends payCredit",
}
"""The actions of the machine's phase table, with the one that signs or sends."""


def life_diagram() -> str:
    """The phases with their actions, and the steps between them."""
    lines = ["stateDiagram-v2"]
    for phase, actions in AUTOMATIC_ACTIONS.items():
        lines.append(f'state "{phase.value}" as {phase.name}')
        lines += [f"{phase.name} : {_DOING[action.__name__]}" for action in actions]
    lines.append(f"[*] --> {Phase.CHECKING.name} : all have agreed on the terms")
    lines += [f"{step.from_phase.name} --> {step.to_phase.name} : {step.what}" for step in LIFE]
    lines.append(f"{Phase.CLOSED.name} --> [*]")
    return _mermaid(lines)


# ----------------------------------------------------------------------------------------------------------- the games


def game_diagram(game: Game) -> str:
    """The rows of a game's table, of which the first leads from the start."""
    signers = "both" if max(game.seats) == 2 else "all"
    lines = ["stateDiagram-v2", f"[*] --> {game.table[0].from_type.label} : setup states, signed by {signers}"]
    lines += [
        f"{row.from_type.label} --> {row.to_type.label} : {row.signer} signs {row.move} [{row.stakes}]"
        for row in game.table
    ]
    return _mermaid(lines)


def flow_diagram(table: Sequence[Any]) -> str:
    """The rows of a table game, from the first phase to the last."""
    lines = ["stateDiagram-v2", f"[*] --> {table[0].from_phase.label} : both have exchanged keys"]
    lines += [f"{row.from_phase.label} --> {row.to_phase.label} : {row.what}" for row in table]
    lines.append(f"{table[-1].to_phase.label} --> [*]")
    return _mermaid(lines)


def games_diagrams() -> dict[str, str]:
    """Of every game that is ours, by name: those for channels, and those without money."""
    for_channels = (each for each in installed_games().usable if each.distribution.partition(" ")[0] == _OURS)
    diagrams = {each.game.name: game_diagram(each.game) for each in for_channels}
    points = (point for point in entry_points(group=TABLE_GROUP) if point.dist and point.dist.name == _OURS)
    return diagrams | {point.name: flow_diagram(point.load().table) for point in points}


# ------------------------------------------------------------------------------------------------------------- the gas

BEST_PEERS = {
    "deposit_first": 45_843,
    "deposit_second": 29_536,
    "conclude_and_pay": 84_356,
    "challenge_two_states": 122_424,
    "challenge_one_state": 95_524,
    "challenge_three_participants": 166_589,
    "respond": 64_723,
    "checkpoint_over_challenge_two_states": 73_779,
    "checkpoint_over_challenge_one_state": 55_563,
    "checkpoint_open": 90_850,
    "transfer_after_expiry": 57_125,
    "happy_total": 163_476,
    "dispute_total": 258_669,
}
"""The lowest of go-nitro, Nitro v1, Perun, Nitrolite and the original ForceMove contracts, run on one EVM in this
scenario. Given with the project's targets; nothing here measures it again."""
AMSTERDAM_PEERS = {"conclude_and_pay": 188_570, "challenge_two_states": 200_497, "respond": 136_088}
"""Nitro v1 under Amsterdam, as the design of the contracts' version 2 has measured it; nor is this measured again."""


FURTHER = "batch_", "token_"
"""How the rows begin that the first page has no room for."""
DISCARD_DISPUTES = (
    ("lay, after lay", "challenge_discard", "respond_discard"),
    ("share and draw, after draw", "", "respond_share"),
    ("share and lay, after share and draw", "challenge_share", "respond_share_discard"),
    ("first deal", "challenge_deal", ""),
    ("second deal", "challenge_second_deal", ""),
    ("second shuffle", "challenge_shuffle", ""),
    ("a final state after the second shuffle", "", "respond_leave"),
    ("four cards shown, after four", "challenge_show", ""),
)
"""Disputes of Discard, with the measured rows of a challenge and of an answer; empty where it was not measured."""


def gas_table() -> str:
    """Our gas, compared with the target and the best peer; under the next fork, compared with Nitro v1."""
    peers, later_peers = ({name: f"{gas:,}" for name, gas in of.items()} for of in (BEST_PEERS, AMSTERDAM_PEERS))
    later = _measured(AMSTERDAM)
    lines = [
        (
            name,
            *(f"{gas:,}" for gas in (row["value"], row["atMost"])),
            peers.get(name, "none has it"),
            f"{later[f'{name}_amsterdam_gas']['value']:,}",
            later_peers.get(name, ""),
        )
        for name, row in _measured(SNAPSHOT).items()
        if not name.startswith(("discard_", *FURTHER))
    ]
    columns = ("operation", "gas", "target", "best published peer", "gas under Amsterdam", "Nitro v1 under Amsterdam")
    return _table(columns, lines, numbers_from=1)


def further_gas_table() -> str:
    """The gas of batches and tokens, of which nobody has given us a peer's."""
    later = _measured(AMSTERDAM)
    lines = [
        (name, *(f"{gas:,}" for gas in (row["value"], row["atMost"], later[f"{name}_amsterdam_gas"]["value"])))
        for name, row in _measured(SNAPSHOT).items()
        if name.startswith(FURTHER)
    ]
    return _table(("operation", "gas", "target", "gas under Amsterdam"), lines, numbers_from=1)


def discard_gas_table() -> str:
    """The gas of Discard's disputes."""
    rows = _measured(SNAPSHOT)

    def shown(name: str) -> str:
        return f"{rows[f'discard_{name}']['value']:,}" if name else ""

    lines = [(what, shown(challenge), shown(answer)) for what, challenge, answer in DISCARD_DISPUTES]
    return _table(("dispute", "challenge, gas", "answer, gas"), lines, numbers_from=1)


def _measured(snapshot: Path) -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = json.loads(snapshot.read_text("utf-8"))["rows"]
    return rows


# ---------------------------------------------------------------------------------------------------- the smallest app


def smallest_app() -> str:
    """The counting app without its comments and imports."""
    source = SMALLEST_APP.read_text("utf-8")
    code = source[source.index("contract ") :]
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("///")]
    return "\n".join(["```solidity", *lines, "```"])


# ------------------------------------------------------------------------------------------------------------ the pages


class MarkerMissing(Exception):
    """A page lacks the markers of a part, or has them twice."""


def parts() -> dict[str, str]:
    """Everything that is generated, by the name in its markers."""
    return {
        "demo": excerpt(),
        "life": life_diagram(),
        "documents": declarations(),
        "rooms-picture": rooms_picture(),
        "rooms": rooms_table(),
        **games_diagrams(),
        "gas": gas_table(),
        "further-gas": further_gas_table(),
        "discard-gas": discard_gas_table(),
        "smallest-app": smallest_app(),
        **{f"api-{name}": reference(name) for name in PUBLIC},
    }


def place(page: str, text: str, name: str) -> re.Match[str]:
    """Where the page's `text` shows a part: between its markers. Raises `MarkerMissing`."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    places = list(re.finditer(f"(?<={re.escape(begin)}\n).*?(?={re.escape(end)})", text, re.DOTALL))
    if len(places) != 1:
        raise MarkerMissing(f"{page} has {len(places)} places between {begin} and {end}, and must have one")
    return places[0]


def _mermaid(lines: list[str]) -> str:
    head, *rest = lines
    return "\n".join(["```mermaid", head, *(f"    {line}" for line in rest), "```"])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers_from: int | None = None) -> str:
    first_number = len(head) if numbers_from is None else numbers_from
    rule = ("---" if column < first_number else "---:" for column in range(len(head)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def current(pages: Mapping[str, str], generated: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The texts of the pages with every part, and the names of the parts that differ. Raises `MarkerMissing`."""
    texts, stale = dict(pages), []
    for name, part in generated.items():
        page = PAGE_OF.get(name, GAMES)
        text, shown = texts[page], place(page, texts[page], name)
        if _compared(name, shown[0]) != _compared(name, f"{part}\n"):
            stale.append(name)
            texts[page] = f"{text[: shown.start()]}{part}\n{text[shown.end() :]}"
    return texts, stale


def _compared(name: str, part: str) -> str:
    return figures_aside(part) if name == "demo" else part


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 where something is stale or a marker is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if anything is stale")
    options = parser.parse_args(arguments)
    pages = {page: (PAGES_IN / page).read_text("utf-8") for page in PAGES}
    try:
        texts, stale = current(pages, parts())
    except MarkerMissing as error:
        print(error, file=sys.stderr)
        return 1
    for page, text in texts.items():
        if not options.check and text != pages[page]:
            (PAGES_IN / page).write_text(text, "utf-8")
    for name in stale:
        print(f"{name}: {'stale' if options.check else 'brought up to date'}", file=sys.stderr)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
