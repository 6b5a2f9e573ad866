"""A run of the search once more, from its words: on the twin, and on the bytecode.

`python -m tests.checking.replay FILE` does so with a run that `write` has kept, and prints what is on the chain after
each event.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from forcemove.protocol.machine import effects
from forcemove.protocol.types import ETHER
from tests.checking.faults import FAULTS
from tests.checking.games import game_named
from tests.checking.ladder import Ladder
from tests.checking.properties import is_out
from tests.checking.remembering import remembering
from tests.checking.search import SILENT, Search, start
from tests.checking.world import START, Bounds, Mined, Setting, World
from tests.parity.core_verdict import ALLOWED, Verdict
from tests.parity.core_world import World as Parity

__all__ = ["Run", "on_bytecode", "on_twin", "read", "write"]

_MOST_ALONE = 100


@dataclass(frozen=True)
class Run:
    """What was found. `game`: as `games.game_named` knows it. `fault`: the name of the one that was put in, or empty.
    `ends`: what did not hold, or empty."""

    game: str
    bounds: Bounds
    steps: tuple[str, ...]
    fault: str = ""
    ends: str = ""

    def setting(self) -> Setting:
        """The one in which it was found."""
        saves_first = FAULTS[self.fault].saves_first if self.fault else True
        return Setting(game_named(self.game), self.bounds, saves_first=saves_first)


def write(run: Run, path: Path) -> None:
    """Keep it as JSON, with the steps as lines that a person can read."""
    path.write_text(json.dumps(asdict(run), indent=2) + "\n")


def read(path: Path) -> Run:
    """What `write` has kept. Raises `msgspec.ValidationError`."""
    return msgspec.json.decode(path.read_bytes(), type=Run)


def on_twin(setting: Setting, steps: Sequence[str]) -> Iterator[tuple[str, World]]:
    """The worlds to which these events lead, each with its words. Raises `LookupError` where one cannot happen."""
    search = Search(setting)
    world = start(setting)
    yield "the beginning", world
    for words in steps:
        if words == SILENT:
            yield from _alone(setting, search, world)
            return
        world = search.after(world, words)
        yield words, world


def _alone(setting: Setting, search: Search, world: World) -> Iterator[tuple[str, World]]:
    for _ in range(_MOST_ALONE):
        if is_out(setting, world):
            return
        world = search.alone(world)
        yield SILENT, world


def on_bytecode(setting: Setting, steps: Sequence[str]) -> Parity:
    """The same with the deployed adjudicator and app. Every transaction is sent to both; verdicts, logs, status and
    holdings are compared after each, what Alice has been paid at the end. Raises `AssertionError` where they differ."""
    parity = Parity(app="LadderApp", rules=setting.game)
    deployed = replace(setting, domain=parity.domain, app=parity.app, start=parity.now)
    before = parity.chain.ether(setting.alice.address)
    *_, (_, world) = on_twin(deployed, steps)
    for mined in world.mined:
        parity.chain.travel_to(mined.now)
        assert _send(parity, deployed, mined) == ALLOWED, mined.submission
    id_ = deployed.agreement.channel_id
    assert parity.model.status_of(id_) == world.chain.status_of(id_)
    assert parity.model.holdings_of(id_, ETHER) == world.chain.holdings_of(id_, ETHER)
    assert parity.chain.ether(setting.alice.address) - before == world.balance
    return parity


def _send(parity: Parity, setting: Setting, mined: Mined) -> Verdict:
    fixed, id_ = setting.agreement.fixed_part, setting.agreement.channel_id
    sender = (setting.alice if mined.is_hers else setting.bob).address
    match mined.submission:
        case effects.SubmitDeposit(asset, held, amount):
            return parity.deposit(sender, id_, asset, held, amount)
        case effects.SubmitChallenge(proof):
            return parity.challenge(sender, fixed, proof)
        case effects.SubmitRespond(challenged, response, signature):
            return parity.respond(sender, fixed, challenged, response, signature)
        case effects.SubmitCheckpoint(proof):
            return parity.checkpoint(sender, fixed, proof)
        case effects.SubmitConclude(outcome, turn, signatures):
            return parity.conclude(sender, fixed, outcome, turn, signatures)
        case effects.SubmitTransfer(hash_, outcome, _):
            return parity.transfer(sender, id_, hash_, outcome)
        case _:
            raise NotImplementedError(mined.submission)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="a run that was kept")
    run = read(parser.parse_args().file)
    setting = run.setting()
    with FAULTS[run.fault].present() if run.fault else nullcontext(), remembering():
        for number, (words, world) in enumerate(on_twin(setting, run.steps)):
            status = world.chain.status_of(setting.agreement.channel_id)
            clock = f", a clock until {status.finalizes_at - START} s" if status.finalizes_at else ""
            held = world.chain.holdings_of(setting.agreement.channel_id, ETHER).amount
            print(f"{number:3} {world.now - START:6} s  {words}")
            print(f"{'':14}turn {status.turn_num_record} recorded{clock}; {held} held; Alice has {world.balance}")
        print(run.ends or "Everything held.")
        if not isinstance(setting.game, Ladder):
            print("Only a ladder is replayed on the bytecode.")
            return
        try:
            on_bytecode(setting, run.steps)
        except AssertionError as difference:
            print(f"The bytecode differs: {difference}")
        else:
            print("The bytecode does the same.")


if __name__ == "__main__":
    main()
