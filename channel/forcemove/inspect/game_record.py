"""A game as a record that a stranger can check: the channel's fixed part, and every state with its signatures. Its
check is that of a player's own client, state by state; no chain and no journal are asked.

Its file is JSON that has one encoding, so that nothing in it can be changed unseen:

    {"format": "forcemove-game-record/2", "channelId": "0x..", "contract": "TicTacToe", .., "turns": [..], ..}

What the players have signed proves itself, and the result follows from it. `checksum` covers the rest, such as names:
it shows a mistake, and stops nobody who makes another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from forcemove.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.game import Game
from forcemove.history.entries import SignatureAdded, StateAccepted, StateSigned
from forcemove.history.history import ChannelHistory
from forcemove.inspect.errors import RecordChanged, RecordIncomplete, RecordRefused
from forcemove.protocol.agreement import Agreement, agree
from forcemove.protocol.codec.json_text import hex_text, parse_json, require_format
from forcemove.protocol.codec.wire import FileMembers, channel_in, channel_to_json, signed_in, signed_to_json
from forcemove.protocol.encoding import Domain, hash_state
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.peer_messages import verify_next
from forcemove.protocol.machine.record import EMPTY_RECORD
from forcemove.protocol.machine.results import Share, shares_of
from forcemove.protocol.rules import require_valid_transition
from forcemove.protocol.types import FixedPart, Outcome, SignedState


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game from its first state to the last one that is known. It has no secrets.

    - `domain`, `fixed_part`: from which the channel's id follows.
    - `contract`: the name of the game's contract.
    - `states`: one for each turn from 0 on, with all signatures that are known.
    - `names`: what the players called themselves, by seat. No state proves them.
    - `begun_at`: Unix seconds of its maker's clock, 0 where that is not known. No state proves it.
    - `words`: what the game says of each state, for readers without the game. No state proves them.
    """

    domain: Domain
    fixed_part: FixedPart
    contract: str
    states: tuple[SignedState, ...]
    names: tuple[str, ...]
    begun_at: int
    words: tuple[str, ...]


def played_states(channel: Channel, history: ChannelHistory, game: Game) -> tuple[SignedState, ...]:
    """The states that lead from the first turn to the newest one: of several of one turn the one that the rules let be
    followed by the next. Raises `RecordIncomplete` where a turn is missing."""
    known: dict[int, list[SignedState]] = {}
    for each in history.entries:
        match each:
            case StateSigned(signed=signed) | StateAccepted(signed=signed):
                _add(known, signed)
            case SignatureAdded(turn_num=turn, participant=seat, signature=signature) if turn in known:
                known[turn][-1] = known[turn][-1].with_signature(seat, signature)
    for signed in (*channel.superseded_states, *channel.signed_states):
        _add(known, signed)
    line: list[SignedState] = []
    for turn in range(max(known, default=0), -1, -1):
        of_turn = known.get(turn, [])
        if line and len(of_turn) > 1:
            of_turn = [each for each in of_turn if _leads(channel.agreement, each, line[-1], game)]
        if not of_turn:
            raise RecordIncomplete(turn)
        line.append(of_turn[-1])
    return tuple(reversed(line))


def _add(known: dict[int, list[SignedState]], signed: SignedState) -> None:
    """Add a state, or its signatures where it is there already."""
    of_turn = known.setdefault(signed.state.turn_num, [])
    for place, each in enumerate(of_turn):
        if each.state == signed.state:
            of_turn[place] = SignedState(each.state, {**each.signatures, **signed.signatures})
            return
    of_turn.append(signed)


def _leads(agreement: Agreement, before: SignedState, after: SignedState, game: Game) -> bool:
    id_, states = agreement.channel_id, (before.state, after.state)
    hashes = [hash_state(id_, each) for each in states]
    try:
        require_valid_transition(id_, agreement.fixed_part, states[0], hashes[0], states[1], hashes[1], game)
    except ForcemoveError:
        return False
    return True


# ------------------------------------------------------------------------------------------------------------ checking


def verify_states(record: GameRecord, game: Game) -> Agreement:
    """Check every state as a client does before it accepts one: that it is the next, that its mover has signed it and
    no signature is wrong, that the game's rules allow it, and that no money comes or goes. Returns what was agreed on
    at the beginning. Raises `RecordRefused`, and `RecordIncomplete` where a turn is missing."""
    agreement = agreement_in(record, game)
    channel = Channel(agreement, 0)
    for signed in record.states:
        turn = signed.state.turn_num
        if turn != channel.next_turn:
            raise RecordIncomplete(channel.next_turn)
        try:
            channel = channel.accept(verify_next(channel, signed, game))
        except ForcemoveError as error:
            raise RecordRefused(turn, error) from error
    return agreement


def agreement_in(record: GameRecord, game: Game) -> Agreement:
    """What the players agreed on at the beginning, by the first state: the position must be the game's first one.
    Raises as `verify_states`."""
    if not record.states or record.states[0].state.turn_num:
        raise RecordIncomplete(0)
    first = record.states[0].state
    by_asset = [(asset, tuple(each)) for asset, each in groupby(first.outcome, lambda each: each.asset)]
    deposits = tuple((asset, tuple(each.amount for each in entries)) for asset, entries in by_asset)
    destinations = tuple(each.destination for each in by_asset[0][1]) if by_asset else ()
    try:
        stake = game.stake_of(first.app_data)
        return agree(record.domain, record.fixed_part, game, stake, deposits, destinations)
    except ForcemoveError as error:
        raise RecordRefused(0, error) from error


def result_in(agreement: Agreement, states: Iterable[SignedState]) -> tuple[Share, ...] | None:
    """Everybody's shares by the last of these states, if it is a final one that all have signed; else None: by the
    states alone the game has not ended."""
    *_, last = states
    if not last.state.is_final or len(last.signatures) < agreement.count:
        return None
    return shares_by(agreement, last.state.outcome)


def shares_by(agreement: Agreement, outcome: Outcome) -> tuple[Share, ...]:
    """Everybody's shares by an outcome, if all have paid in."""
    channel = Channel(agreement, 0)
    return shares_of(replace(channel, record=replace(EMPTY_RECORD, closed=True)), outcome)


# ------------------------------------------------------------------------------------------------------------- the file

FAMILY = "forcemove-game-record"
VERSION = 2
"""The version of records that this program writes and reads."""
_WHAT = "game record"
_LATEST = 2**37
"""A time that still has a date."""


@dataclass(frozen=True, slots=True)
class GameRecordFile:
    """What a file says; nothing of it is believed yet. `content`: its members."""

    record: GameRecord
    content: Mapping[str, Any]

    @property
    def domain(self) -> Domain:
        """The chain's id, and the adjudicator."""
        return self.record.domain


def encode_game_record(record: GameRecord, agreement: Agreement) -> str:
    """The text of a record's file. `agreement`: what its players agreed on."""
    return _text(_content(record, agreement)) + "\n"


def decode_game_record(text: str) -> GameRecordFile:
    """What a file says. Raises `MalformedBytes`, and `UnknownVersion`."""
    content = parse_json(text, _WHAT)
    try:
        record = _record(FileMembers(content, _WHAT))
    except (MalformedBytes, UnknownVersion):
        raise
    except ForcemoveError as error:
        raise MalformedBytes(_WHAT, str(error)) from None
    if _text(content) != text.strip():
        raise MalformedBytes(_WHAT, "it is not written as records are written: spaces or a spelling differ")
    return GameRecordFile(record, content)


def require_unchanged(file: GameRecordFile, agreement: Agreement) -> None:
    """Refuse a file in which something does not follow from the states, or from the checksum. Raises `RecordChanged`.
    `agreement`: what its players agreed on."""
    expected = _content(file.record, agreement)
    for member, value in expected.items():
        if file.content[member] != value:
            raise RecordChanged(member)
    if _text(expected) != _text(file.content):
        raise RecordChanged("order of members")


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1)


def _content(record: GameRecord, agreement: Agreement) -> dict[str, Any]:
    shares, turns = result_in(agreement, record.states), zip(record.states, record.words, strict=True)
    content = {
        "format": f"{FAMILY}/{VERSION}",
        "channelId": hex_text(agreement.channel_id),
        "contract": record.contract,
        "names": list(record.names),
        "begunAt": record.begun_at,
        "result": [
            {"asset": hex_text(each.asset), "participant": each.participant, "amount": str(each.allocated)}
            for each in shares or ()
        ],
        **channel_to_json(record.domain, record.fixed_part),
        "turns": [{**signed_to_json(signed), "words": words} for signed, words in turns],
    }
    return content | {"checksum": hex_text(keccak256(_text(content).encode()))}


def _record(file: FileMembers) -> GameRecord:
    require_format(file.take("format", str), FAMILY, VERSION, _WHAT)
    contract, names, begun_at = file.take("contract", str), file.take("names", list), file.take("begunAt", int)
    if not all(isinstance(each, str) for each in names) or not 0 <= begun_at <= _LATEST:
        raise MalformedBytes(_WHAT, "its names are not text, or its time has no date")
    channel, states, words = channel_in(file), [], []
    for each in (FileMembers(each, "turn") for each in file.take("turns", list)):
        states.append(signed_in(each))
        words.append(each.take("words", str))
        each.done()
    for member, kind in (("channelId", str), ("result", list), ("checksum", str)):
        file.take(member, kind)  # which follow from the rest, see `require_unchanged`
    file.done()
    return GameRecord(*channel, contract, tuple(states), tuple(names), begun_at, tuple(words))
