#!/usr/bin/env python3
"""Measures speed: the cost of a state and of a turn over that of libsecp256k1 and of eth_account, and how long things
take.

Times on shared machines differ from run to run, so costs are ratios, taken in turn: medians over interleaved rounds in
one process. States have two participants and 224 bytes of appData, positions of rock-paper-scissors; they are those of
one long game, and the bare operations get the same digests and signatures.

Views are compared with a round trip of the same state through the standard library's json, `loads(dumps(state))`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")  # eth_account's faster one, as the command line sets it

import msgspec  # noqa: E402
from coincurve import PrivateKey  # noqa: E402

from forcemove.flow.channel import UPDATES, Update  # noqa: E402
from forcemove.flow.queue import ActionQueue  # noqa: E402
from forcemove.flow.signed import SignedTransport  # noqa: E402
from forcemove.flow.transport import MemoryTransport, Transport  # noqa: E402
from forcemove.protocol.agreement import agree  # noqa: E402
from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.protocol.encoding import Domain, digest, hash_state  # noqa: E402
from forcemove.protocol.hashing import keccak256  # noqa: E402
from forcemove.protocol.machine.channel import Channel  # noqa: E402
from forcemove.protocol.machine.effects import SendState  # noqa: E402
from forcemove.protocol.machine.inputs import ContractsGenuine, HoldingsSeen, Input, MoveChosen, StateReceived  # noqa: E402
from forcemove.protocol.machine.machine import step  # noqa: E402
from forcemove.protocol.outcome import address_destination  # noqa: E402
from forcemove.protocol.signing import Key, require_signer  # noqa: E402
from forcemove.protocol.state import SignedState, VariablePart  # noqa: E402
from forcemove.protocol.types import ETHER, FixedPart  # noqa: E402
from forcemove_games.rock_paper_scissors import GAME  # noqa: E402
from forcemove_games.sra.deck import shuffle_between_two  # noqa: E402
from forcemove_games.views import Json, apply_update, filter_state, play_action, replay_action  # noqa: E402
from scripts import (  # noqa: E402
    card_speed,
    commit_ratio,
    history_speed,
    jetstream_speed,
    network_turn,
    node_speed,
    page_speed,
    relay_moves,
    relay_speed,
    tower_speed,
)
from scripts.bare_signing import bare_recover, bare_sign, recoverable  # noqa: E402
from scripts.commit_ratio import timed  # noqa: E402
from scripts.vectors import eip712  # noqa: E402

NOW = 1_800_000_000
STAKE = 1
DEPOSIT = 10**18
TURNS = 200
"""How many turns of each player a round times: more positions than a game keeps decoded."""
SHOWN_TURNS = 20
"""How many turns of each player are shown on a page."""

TRIPS = 6
"""How many JSON round trips a round times at once."""

Action = Callable[[], object]


@dataclass(frozen=True)
class Target:
    """What a row may be at most, or at least, and what it is."""

    bound: float
    unit: str
    meaning: str
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


VIEWED = "a 100 kB state (8,500 values: players' hands, a board, a log) of which one field changes"
TARGETS = {
    "state_sign_ratio": Target(1.6, "x", "encode, hash and sign a state / one bare signature of a ready hash"),
    "state_verify_ratio": Target(1.35, "x", "encode, hash and recover a state / one bare recovery to an address"),
    "turn_ratio": Target(1.6, "x", "verify, check every rule, sign the reply / a bare recovery and a bare signature"),
    "eth_account_sign_ratio": Target(8, "x", "eth_account's typed-data signing / ours", at_least=True),
    "view_replay_ratio": Target(2, "x", f"replay an action on {VIEWED} / its JSON round trip"),
    "view_filter_ratio": Target(2, "x", f"filter {VIEWED} / its JSON round trip"),
    "view_play_ratio": Target(8, "x", f"play an action, two viewers, all checks on {VIEWED} / its JSON round trip"),
    "parity_seconds": Target(30, "s", "all of tic-tac-toe, and illegal neighbours, against the bytecode"),
    "queue_actions_per_second": Target(100_000, "/s", "posted, ordered, read back; in memory", at_least=True),
    "signed_queue_actions_per_second": Target(6_000, "/s", "the same, signed and verified", at_least=True),
    "sra_shuffle_seconds": Target(1.5, "s", "52 cards, two sides, 2048 bits, every check"),
    "shuffle_prove_ms": Target(20, "ms", "CPU time: another player's deck of 52 cards shuffled, with the proof"),
    "shuffle_verify_ms": Target(25, "ms", "CPU time: that proof checked"),
    "discard_set_up_ms": Target(80, "ms", "CPU time: keys, shuffles and deals of 24 cards, made and checked by both"),
    "discard_turn_ms": Target(5, "ms", "CPU time: a turn of Discard in memory, proofs made and checked"),
    "durable_turn_ratio": Target(1.9, "x", "a turn of one of 100 channels, on disk before it is sent / in memory"),
    "durable_turn_bare_ratio": Target(4, "x", "the same, what both sides do / the turn's bare signature and recovery"),
    "channel_cost_growth": Target(2, "x", "a node's CPU time for a block, 1,000 idle channels / 10"),
    "requests_per_block": Target(4, "", "of a node with 1,000 idle channels"),
    "requests_per_block_of_two": Target(8, "", "the same with two endpoints, to both together"),
    "requests_per_turn": Target(0.2, "", "of two nodes that play one channel on a quiet chain"),
    "tower_appointment_ms": Target(0.5, "ms", "CPU time: an appointment for a tower with 10,000 channels"),
    "tower_idle_poll_ms": Target(1, "ms", "CPU time: a poll of a tower with 10,000 idle channels, without a new block"),
    "relay_rate_ratio": Target(
        0.25, "x", "actions a second through a relay, 100 tables, on disk / a bare WebSocket echo", at_least=True
    ),
    "relay_moves_per_second": Target(
        3_400, "/s", "200 players over a relay, turn by turn, a connection for each, on disk", at_least=True
    ),
    "relay_move_spread": Target(5, "x", "99th percentile of a move's time at half of that rate / its median"),
    "jetstream_rate_ratio": Target(
        0.4, "x", "the same through NATS JetStream, file storage / bare asynchronous publishing", at_least=True
    ),
    "network_turn_ratio": Target(
        1.5, "x", "a turn between two processes over a relay, all of it on disk / three commits and an echo"
    ),
    "commit_ratio": Target(1.5, "x", "a commit of a journal with one channel / a bare synced commit of SQLite"),
    "history_commit_ratio": Target(1.15, "x", "a commit of 100 channels with a turn's history of each / without"),
    "channel_list_ms": Target(50, "ms", "a list of 1,000 channels, from the open journal to the page"),
    "overview_ms": Target(1, "ms", "an overview of a channel with 10,000 entries"),
    "panels_ms": Target(2, "ms", "an overview and all panels of a page after a move, with 10,000 entries"),
    "page_kilobytes": Target(40, "kB", "a page with a full timeline, and all that it loads"),
    "click_to_counterparty_ms": Target(
        60, "ms", "a click until the other player's browser shows it: two commands, a relay, all three on disk"
    ),
    "help_seconds": Target(0.2, "s", "forcemove --help"),
    "demo_seconds": Target(8, "s", "forcemove demo"),
}
SIGNING_RATIOS = ("state_sign_ratio", "state_verify_ratio", "turn_ratio", "eth_account_sign_ratio")
VIEW_RATIOS = ("view_replay_ratio", "view_filter_ratio", "view_play_ratio")
RATIOS = (*SIGNING_RATIOS, *VIEW_RATIOS)


# ------------------------------------------------------------------------------------------------------- one long game


class Table:
    """Alice's and Bob's channels, joined in memory; records Alice's inputs."""

    def __init__(self) -> None:
        self.keys = (Key(keccak256(b"alice")), Key(keccak256(b"bob")))
        self.domain = Domain(31_337, bytes.fromhex("ad" * 20))
        addresses = (self.keys[0].address, self.keys[1].address)
        fixed_part = FixedPart(addresses, 1, bytes.fromhex("a9" * 20), 86_400)
        deposits = ((ETHER, (DEPOSIT, DEPOSIT)),)
        agreement = agree(self.domain, fixed_part, GAME, STAKE, deposits, tuple(map(address_destination, addresses)))
        self.channels = [Channel(agreement, seat) for seat in (0, 1)]
        self.given_to_alice: list[Input] = []
        for happens in (ContractsGenuine(), HoldingsSeen(ETHER, 2 * DEPOSIT)):
            for seat in (0, 1):
                self.feed(seat, happens)

    def feed(self, seat: int, happens: Input) -> None:
        """Give one of the two an input; the other receives its messages at once."""
        if seat == 0:
            self.given_to_alice.append(happens)
        self.channels[seat], effects = step(self.channels[seat], happens, NOW, self.keys[seat], GAME)
        for effect in effects:
            if isinstance(effect, SendState):
                self.feed(1 - seat, StateReceived(effect.signed))

    def newest(self) -> VariablePart:
        """The state that both have."""
        accepted = self.channels[0].newest
        if accepted is None:
            raise SystemExit("the channel did not open")
        return accepted.state


class Game:
    """A game from Alice's side: her channel before the first move, and all her later inputs."""

    def __init__(self, turns: int) -> None:
        """Let bots play this many turns each."""
        table = Table()
        self.opened = table.channels[0]
        self.key = table.keys[0]
        table.given_to_alice.clear()
        bots = (GAME.bot(0), GAME.bot(1))
        for turn in range(2 * turns):
            move = bots[turn % 2].move(table.newest(), another_round=True)
            if move is None:
                raise SystemExit(f"the game was over after {turn} turns")
            table.feed(turn % 2, MoveChosen(move.outcome, move.app_data))
        self.inputs = tuple(table.given_to_alice)
        self.domain = table.domain
        self.counterparty = table.keys[1].address
        self.last = table.newest()

    def received(self) -> list[SignedState]:
        """Bob's states, signed by him."""
        return [happens.signed for happens in self.inputs if isinstance(happens, StateReceived)]

    def states(self) -> list[VariablePart]:
        """Alice's states, one for each that she receives."""
        moves = [happens for happens in self.inputs if isinstance(happens, MoveChosen)]
        turns = (signed.state.turn_num - 1 for signed in self.received())
        return [VariablePart(move.outcome, move.app_data, turn) for move, turn in zip(moves, turns, strict=True)]

    def replay(self) -> Channel:
        """Apply every input once."""
        channel = self.opened
        for happens in self.inputs:
            channel, _ = step(channel, happens, NOW, self.key, GAME)
        return channel

    def channels(self) -> list[Channel]:
        """Her channel after every input."""
        found = [self.opened]
        for happens in self.inputs:
            found.append(step(found[-1], happens, NOW, self.key, GAME)[0])
        return found[1:]


class Hall:
    """A card game of many players. Each sees no hand but its own; the log says which viewer has seen what was said."""

    def __init__(self) -> None:
        """Make a state of a hundred kilobytes."""
        names = [f"player-{number}" for number in range(190)]
        self.state: Json = {
            "turn": 12,
            "pile": [f"card-{number}" for number in range(52)],
            "players": {name: _player(number) for number, name in enumerate(names)},
            "board": [[_square(row, column) for column in range(32)] for row in range(73)],
            "log": [_said(number, names[number % 9]) for number in range(270)],
        }

    def update_state(self, state: Json, action: Json) -> None:
        def mark(state: Json) -> None:
            state["log"][action["line"]]["seen"] = True

        apply_update(state, mark)

    def filters(self, state: Json) -> dict[str, Callable[[Json], None]]:
        return {viewer: partial(_view, viewer) for viewer in list(state["players"])[:2]}


def _player(number: int) -> Json:
    hand = ["7S", "KD", "AH", "2C", f"{number % 8 + 2}H"]
    return {"score": 37 * number, "rating": 100 / (number + 3), "is_in": number % 7 > 0, "hand": hand, "note": None}


def _square(row: int, column: int) -> Json:
    chosen = (7 * row + 5 * column) % 4
    return {"unit": "scout", "hits": row % 5, "moved": False} if chosen == 3 else chosen or None


def _said(number: int, name: str) -> Json:
    said = f"a sentence that somebody has said at the table, number {number}"
    return {"at": 1_700_000_000 + number, "who": name, "said": said, "tags": ["x", "public"], "seen": False}


def _view(viewer: str, state: Json) -> None:
    state["pile"] = len(state["pile"])
    for name, player in state["players"].items():
        if name != viewer:
            player["hand"] = len(player["hand"])


# -------------------------------------------------------------------------------------------------------------- ratios


def measure_ratios(rounds: int, rows: Sequence[str]) -> dict[str, float]:
    """The medians of the ratios of these rows, over this many rounds, in each of which every action is timed once."""
    actions: dict[str, Action] = {}
    if any(row in rows for row in SIGNING_RATIOS):
        actions |= _actions(Game(TURNS))
    if any(row in rows for row in VIEW_RATIOS):
        actions |= _view_actions(Hall())
    each_round: list[dict[str, float]] = []
    for done in range(rounds):
        each_round.append(_ratios({name: timed(action) for name, action in actions.items()}))
        _progress(f"round {done + 1} of {rounds}", done + 1 == rounds)
    return {row: statistics.median(ratios[row] for ratios in each_round) for row in each_round[0]}


def _actions(game: Game) -> dict[str, Action]:
    """The actions to compare, each on all turns of the game: the bare ones have the same digests and signatures as the
    rest."""
    key, domain, id_, bob = game.key, game.domain, game.opened.agreement.channel_id, game.counterparty
    ours, theirs = game.states(), game.received()
    to_sign = [digest(domain, hash_state(id_, state).state) for state in ours]
    to_verify = [
        (digest(domain, hash_state(id_, each.state).state), recoverable(each.signatures[1])) for each in theirs
    ]
    private_key = PrivateKey(key.secret)
    signed = [bare_sign(private_key, ready) for ready in to_sign]

    def sign(state: VariablePart) -> object:
        return key.sign(digest(domain, hash_state(id_, state).state))

    def verify(signed: SignedState) -> None:
        require_signer(digest(domain, hash_state(id_, signed.state).state), signed.signatures[1], bob)

    return {
        "sign": lambda: [sign(state) for state in ours],
        "bare sign": lambda: [bare_sign(private_key, ready) for ready in to_sign],
        "verify": lambda: list(map(verify, theirs)),
        "bare recover": lambda: [bare_recover(*each) for each in to_verify],
        "turn": game.replay,
        "bare turn": lambda: [
            (bare_recover(*each), bare_sign(private_key, ready)) for each, ready in zip(to_verify, to_sign, strict=True)
        ],
        "eth_account sign": _eth_account_sign(key, domain, id_, ours, signed),
    }


def _view_actions(hall: Hall) -> dict[str, Action]:
    """The actions on views to compare, on the same state. All take about as long: a busy machine interrupts long
    actions, and not short ones."""
    state, action = hall.state, {"line": 5}
    view, new_info = filter_state(hall, state, "player-0"), play_action(hall, state, action).new_info["player-0"]
    return {
        "round trips": lambda: _repeated(lambda: json.loads(json.dumps(state))),
        "replays": lambda: _repeated(lambda: replay_action(hall, view, action, new_info)),
        "filters": lambda: _repeated(lambda: filter_state(hall, state, "player-0")),
        "play": lambda: play_action(hall, state, action),
    }


def _repeated(action: Action) -> None:
    for _ in range(TRIPS):
        action()


def _eth_account_sign(
    key: Key, domain: Domain, id_: bytes, states: Sequence[VariablePart], expected: Sequence[bytes]
) -> Action:
    """The same signatures of the same states, made by eth_account."""
    from eth_account import Account

    domain_data = {
        "name": "Forcemove",
        "version": "1",
        "chainId": domain.chain_id,
        "verifyingContract": "0x" + domain.adjudicator.hex(),
    }
    types = {name: eip712()["types"][name] for name in ("State", "Allocation")}
    messages = [_typed_message(id_, state) for state in states]

    def sign() -> list[bytes]:
        signed = (Account.sign_typed_data(key.secret, domain_data, types, message) for message in messages)
        return [bytes(each.signature) for each in signed]

    if [signature[:64] for signature in sign()] != [signature[:64] for signature in expected]:
        raise SystemExit("eth_account signs something else: the comparison would be worthless")
    return sign


def _typed_message(id_: bytes, state: VariablePart) -> dict[str, object]:
    return {
        "channelId": id_,
        "outcome": [
            {"asset": "0x" + entry.asset.hex(), "destination": entry.destination, "amount": entry.amount}
            for entry in state.outcome
        ],
        "appData": state.app_data,
        "turnNum": state.turn_num,
        "isFinal": state.is_final,
    }


_COMPARED = {
    "state_sign_ratio": ("sign", "bare sign", 1),
    "state_verify_ratio": ("verify", "bare recover", 1),
    "turn_ratio": ("turn", "bare turn", 1),
    "eth_account_sign_ratio": ("eth_account sign", "sign", 1),
    "view_replay_ratio": ("replays", "round trips", 1),
    "view_filter_ratio": ("filters", "round trips", 1),
    "view_play_ratio": ("play", "round trips", TRIPS),
}
"""For each ratio its numerator, its denominator, and how many of the latter are timed at once."""


def _ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    return {
        row: times * seconds[one] / seconds[other] for row, (one, other, times) in _COMPARED.items() if one in seconds
    }


# --------------------------------------------------------------------------------------------------------- whole things


def measure_parity() -> float:
    """Every tic-tac-toe move and its illegal neighbours, in Python and in bytecode, on all cores."""
    from tests.parity.tic_tac_toe_space import run_parity

    return run_parity()[1]


def measure_queue(actions: int, *, signed: bool) -> float:
    """So many actions a second go through one table's log and come back."""
    return actions / timed(lambda: asyncio.run(_post_and_read(actions, signed)))


async def _post_and_read(actions: int, signed: bool) -> None:
    key, log = Key(keccak256(b"alice")), MemoryTransport()
    transport: Transport = SignedTransport(log, bytes(32), key, {"alice": key.address}) if signed else log
    queue: ActionQueue[Update] = ActionQueue(transport, UPDATES)
    for number in range(actions):
        await queue.enqueue(Update("alice", msgspec.Raw(f'"{number:0400x}"'.encode())))
        await queue.dequeue()


def measure_command(*arguments: str, times: int) -> float:
    """The median of a few runs of the installed command, start to end."""
    command = [str(Path(sys.executable).with_name("forcemove")), *arguments]
    return statistics.median(timed(lambda: _run(command)) for _ in range(times))


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-1_000:]}{done.stderr[-1_000:]}")


def measure(rows: Sequence[str], rounds: int) -> dict[str, float]:
    """The rows that are wanted, in the order of the targets."""
    found: dict[str, float] = {}
    if any(row in rows for row in RATIOS):
        found |= measure_ratios(rounds, rows)
    for row, whole in _WHOLE_THINGS.items():
        if row in rows:
            _progress(TARGETS[row].meaning, True)
            found[row] = whole()
    return {row: found[row] for row in TARGETS if row in rows}


def measure_clicks() -> float:
    """Milliseconds of a click. Needs Playwright, which the other rows do not."""
    from scripts.click_speed import click_to_counterparty_ms

    return click_to_counterparty_ms()


_WHOLE_THINGS: dict[str, Callable[[], float]] = {
    "parity_seconds": measure_parity,
    "queue_actions_per_second": lambda: measure_queue(50_000, signed=False),
    "signed_queue_actions_per_second": lambda: measure_queue(10_000, signed=True),
    "sra_shuffle_seconds": lambda: statistics.median(timed(lambda: shuffle_between_two(52)) for _ in range(3)),
    "shuffle_prove_ms": card_speed.shuffle_prove_ms,
    "shuffle_verify_ms": card_speed.shuffle_verify_ms,
    "discard_set_up_ms": card_speed.discard_set_up_ms,
    "discard_turn_ms": card_speed.discard_turn_ms,
    "durable_turn_ratio": node_speed.durable_turn_ratio,
    "durable_turn_bare_ratio": node_speed.durable_turn_bare_ratio,
    "channel_cost_growth": node_speed.channel_cost_growth,
    "requests_per_block": node_speed.requests_per_block,
    "requests_per_block_of_two": node_speed.requests_per_block_of_two,
    "requests_per_turn": node_speed.requests_per_turn,
    "tower_appointment_ms": tower_speed.tower_appointment_ms,
    "tower_idle_poll_ms": tower_speed.tower_idle_poll_ms,
    "relay_rate_ratio": relay_speed.relay_rate_ratio,
    "relay_moves_per_second": relay_moves.relay_moves_per_second,
    "relay_move_spread": relay_moves.relay_move_spread,
    "jetstream_rate_ratio": jetstream_speed.jetstream_rate_ratio,
    "network_turn_ratio": network_turn.network_turn_ratio,
    "commit_ratio": lambda: commit_ratio.commit_ratio(CHANNELS.encode(Table().channels[0])),
    "history_commit_ratio": lambda: history_speed.history_commit_ratio(Table().channels[0]),
    "channel_list_ms": lambda: history_speed.channel_list_ms(Table().channels[0]),
    "overview_ms": lambda: history_speed.overview_ms(Table().channels[0]),
    "panels_ms": lambda: page_speed.panels_ms(Game(SHOWN_TURNS).channels(), GAME),
    "page_kilobytes": lambda: page_speed.page_kilobytes(Table().channels[0], GAME),
    "click_to_counterparty_ms": measure_clicks,
    "help_seconds": lambda: measure_command("--help", times=7),
    "demo_seconds": lambda: measure_command("demo", times=1),
}


def _progress(text: str, is_last: bool) -> None:
    """Print progress: on a terminal in one line that is written over; elsewhere only the last text."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\n" if is_last else "", file=sys.stderr, flush=True)
    elif is_last:
        print(text, file=sys.stderr, flush=True)


def missed(rows: Mapping[str, float]) -> list[str]:
    """The rows that miss their targets."""
    return [row for row, value in rows.items() if not TARGETS[row].is_met(value)]


def _table(rows: Mapping[str, float]) -> str:
    return "\n".join(
        f"{row:32} {value:9.2f} {target.unit}  target {'>=' if target.at_least else '<='} {target.bound:g}"
        f"{'  MISSED' if row in missed(rows) else ''}  {target.meaning}"
        for row, value in rows.items()
        for target in (TARGETS[row],)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Returns 1 where `--check` is given and a target missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help='print {"rows": {name: value}}')
    parser.add_argument("--check", action="store_true", help="fail where a target is missed")
    parser.add_argument("--rounds", type=int, default=60, metavar="N", help="rounds of the ratios (60)")
    parser.add_argument("--only", nargs="+", choices=TARGETS, metavar="ROW", default=tuple(TARGETS), help="these rows")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    rows = measure(options.only, options.rounds)
    print(json.dumps({"rows": rows}, indent=1) if options.json else _table(rows))
    if missed(rows):
        print(f"{len(missed(rows))} of {len(rows)} rows miss their targets: {', '.join(missed(rows))}", file=sys.stderr)
    return int(options.check and bool(missed(rows)))


if __name__ == "__main__":
    raise SystemExit(main())
