"""A game's record: made from a journal, checked without a chain, and refused wherever a byte of it was changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forcemove import ChooseMove, ForcemoveError, Level, LocalTable, MalformedBytes, RuleError, local_table, moves_of
from forcemove.chain.local import local_keys
from forcemove.game import Game
from forcemove.history.history import ChannelHistory
from forcemove.inspect.apps import KnownBy
from forcemove.inspect.errors import GameMissing, RecordChanged, RecordIncomplete, RecordRefused
from forcemove.inspect.game_record import GameRecordFile, played_states
from forcemove.inspect.game_record_report import ChainPayment, GameRecordReport
from forcemove.inspect.inspection import inspect_record, parse_subject
from forcemove.node.histories import load_history
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.errors import OpeningMismatch, SignatureMissing
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.results import result_of
from forcemove.protocol.rule_errors import WrongTotal
from forcemove.protocol.types import VariablePart
from forcemove.registry import installed_games
from forcemove.text.played_games import positions_in, record_text
from forcemove.text.reports import report_parts
from tests.sampled import sampled
from tests.secret_forms import is_in

GAMES = installed_games().games
FOR_TWO = [each.name for each in GAMES if 2 in each.seats]
NAMES = ("Alice", "Bob")
STAKE, ROUNDS = 10**15, 2
AT_RANDOM = pytest.mark.parametrize(
    ("name", "seed"), sampled([(name, seed) for seed in range(67) for name in FOR_TWO], 40)
)
"""Two hundred games."""
MEMBERS = {
    *("format", "channelId", "contract", "names", "begunAt", "result", "chainId", "adjudicator", "fixedPart"),
    *("turns", "checksum"),
}


class Played:
    """A game that two careless bots have played, and what they were asked on the way."""

    def __init__(self, game: Game, seed: int, last: int | None = None) -> None:
        """`last`: the turn after which nobody moves any more."""
        chance = random.Random(seed)  # so that a game is the same again
        self.game = game
        self.seen: dict[int, VariablePart] = {}
        self._last = last
        bots = [game.bot(seat, chance.randbytes, level=Level.EASY) for seat in range(2)]
        self.table: LocalTable = local_table(game, *map(self._player, bots), stake=STAKE)
        self.table.play()
        self.channel = self.table.channels[0].channel
        self.history = load_history(self.table.nodes[0]._journal, self.table.channels[0].id)
        self.text = record_text(self.channel, self.history, game, NAMES)

    def _player(self, bot: Any) -> Callable[[ChooseMove], Any]:
        begun: set[int] = set()

        def another(state: VariablePart) -> bool:
            begun.add(state.turn_num)
            return len(begun) <= ROUNDS

        choose = moves_of(bot, another_round=another)

        def asked(question: ChooseMove) -> Any:
            for each in (*question.between, question.state):
                self.seen[each.turn_num] = each
            return None if question.state.turn_num == self._last else choose(question)

        return asked


@cache
def played(name: str = "tic-tac-toe", seed: int = 1) -> Played:
    return Played(next(each for each in GAMES if each.name == name), seed)


def inspected(text: str, **where: Any) -> GameRecordReport:
    document = parse_subject(text)
    assert not isinstance(document, bytes)
    return inspect_record(document, GAMES, **where)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------------- what holds


@AT_RANDOM
def test_a_record_has_the_positions_of_play_and_tells_what_was_paid(name: str, seed: int) -> None:
    game = played(name, seed)
    report = inspected(game.text, chain=game.table.chain)
    positions = positions_in(game.game, report.record.states, NAMES)
    asked = {turn: state for turn, state in game.seen.items() if not state.is_final}
    assert {each.state.turn_num: each.state for each in positions} == asked
    assert [each.state.turn_num for each in positions] == sorted(asked)
    assert report.payment is ChainPayment.PAID
    assert report.result == result_of(game.channel, game.table.chain.now()).shares
    assert report.app.known_by is KnownBy.CODE


def test_a_record_of_either_player_tells_the_same() -> None:
    game = played()
    channel = game.table.channels[1].channel
    history = load_history(game.table.nodes[1]._journal, game.table.channels[1].id)
    theirs = inspected(record_text(channel, history, game.game, NAMES))
    ours = inspected(game.text)
    assert [each.state for each in theirs.record.states] == [each.state for each in ours.record.states]
    assert theirs.result == ours.result is not None
    assert ours.payment is None


def test_a_game_that_goes_on_has_a_record_without_a_result() -> None:
    game = Played(played().game, 3)
    entries = game.history.entries
    half = ChannelHistory(entries[: len(entries) // 2])
    channel = replace(game.channel, accepted=(), superseded=())
    report = inspected(record_text(channel, half, game.game, NAMES), chain=game.table.chain)
    assert report.result is None
    assert report.payment is ChainPayment.OTHERWISE


def test_a_journal_that_lacks_a_turn_has_no_record() -> None:
    game = played()
    with pytest.raises(RecordIncomplete) as caught:
        played_states(game.channel, ChannelHistory(game.history.entries[8:]), game.game)
    assert caught.value.turn_num > 1


@pytest.mark.parametrize("name", FOR_TWO)
@pytest.mark.parametrize("last", [4, 5])
def test_a_record_has_no_secret_that_was_not_revealed(name: str, last: int) -> None:
    """A game that stands still while choices are hidden."""
    game = Played(played(name).game, 5, last=last)
    for each in game.table.channels:
        parts = [each.channel.secrets[at : at + 16] for at in range(0, len(each.channel.secrets), 16)]
        assert not [part.hex() for part in parts if len(set(part)) > 8 and is_in(game.text.encode(), part)]
    assert set(json.loads(game.text)) == MEMBERS


# ---------------------------------------------------------------------------------------------------- what is refused


@given(st.data())
@settings(max_examples=300)
def test_a_changed_byte_anywhere_is_refused(data: st.DataObject) -> None:
    text = played().text.rstrip()
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda each: each != text[place]))
    with pytest.raises(ForcemoveError):
        inspected((text[:place] + other + text[place + 1 :]).strip())


def require_refused(text: str, place: int) -> None:
    """With the lowest bit of this byte turned over."""
    with pytest.raises(ForcemoveError):
        inspected(f"{text[:place]}{chr(ord(text[place]) ^ 1)}{text[place + 1 :]}")


@AT_RANDOM
def test_a_changed_byte_of_any_record_is_refused(name: str, seed: int) -> None:
    text = played(name, seed).text.rstrip()
    for place in random.Random(seed).sample(range(len(text)), 50):
        require_refused(text, place)


@pytest.mark.long
@pytest.mark.parametrize("name", FOR_TWO)
def test_a_changed_byte_at_each_place_is_refused(name: str) -> None:
    text = played(name).text.rstrip()
    for place in range(len(text)):
        require_refused(text, place)


def rewritten(change: Callable[[dict[str, Any]], None], game: Played | None = None) -> str:
    """A record in which something was changed, with a checksum that fits."""
    content = json.loads((game or played()).text)
    change(content)
    del content["checksum"]
    content["checksum"] = f"0x{keccak256(json.dumps(content, indent=1).encode()).hex()}"
    return json.dumps(content, indent=1)


def refusal(change: Callable[[dict[str, Any]], None], game: Played | None = None) -> tuple[int, type[ForcemoveError]]:
    """The turn that is refused, and why."""
    with pytest.raises(RecordRefused) as caught:
        inspected(rewritten(change, game))
    return caught.value.turn_num, type(caught.value.reason)


def test_what_nobody_has_signed_is_refused_whatever_the_checksum_says() -> None:
    def swapped(content: dict[str, Any]) -> None:
        at = content["turns"][6]["signatures"]
        at["1"] = at.pop("0")

    def unsigned(content: dict[str, Any]) -> None:
        content["turns"][6]["signatures"] = {}

    def anothers(content: dict[str, Any]) -> None:
        content["turns"][6]["signatures"] = content["turns"][8]["signatures"]

    def another_nonce(content: dict[str, Any]) -> None:
        content["fixedPart"]["channelNonce"] = "1"

    assert refusal(swapped) == (6, SignatureMissing)
    assert refusal(unsigned) == (6, SignatureMissing)
    assert refusal(anothers)[0] == 6
    assert refusal(another_nonce)[0] == 0


def signed_again(game: Played, turn: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    """A state as two players who are of one mind against a reader would sign it."""
    state = next(each for each in game.history.states if each.turn_num == turn)
    agreement, changed = game.channel.agreement, replace(state, **changes)
    signature = local_keys()[turn % 2].sign(digest(agreement.domain, hash_state(agreement.channel_id, changed).state))

    def change(content: dict[str, Any]) -> None:
        turn_of = content["turns"][turn]
        recorded = turn_of["state"]
        recorded["appData"], recorded["isFinal"] = f"0x{changed.app_data.hex()}", changed.is_final
        recorded["outcome"] = [
            {
                "asset": f"0x{each.asset.hex()}",
                "destination": f"0x{each.destination.hex()}",
                "amount": str(each.amount),
            }
            for each in changed.outcome
        ]
        turn_of["signatures"][str(turn % 2)] = f"0x{signature.compact.hex()}"

    return change


def test_what_breaks_the_rules_is_refused_whoever_has_signed_it() -> None:
    game = played()
    before = next(each for each in game.history.states if each.turn_num == 5)
    _, illegal = game.game.illegal_moves(before)[0]
    outcome = tuple(replace(each, amount=each.amount + 1) for each in before.outcome)
    turn, error = refusal(signed_again(game, 6, app_data=illegal.app_data, outcome=illegal.outcome))
    assert turn == 6
    assert issubclass(error, RuleError)
    assert refusal(signed_again(game, 6, outcome=outcome)) == (6, WrongTotal)
    assert refusal(signed_again(game, 0, app_data=before.app_data)) == (0, OpeningMismatch)


def test_a_turn_that_is_left_out_is_refused() -> None:
    for turn in (0, 2, 6):
        with pytest.raises((RecordIncomplete, MalformedBytes)):
            inspected(rewritten(lambda content: content["turns"].pop(turn)))  # noqa: B023  # it is called at once


@pytest.mark.parametrize(
    ("member", "value"),
    [("result", []), ("channelId", f"0x{'11' * 32}"), ("names", ["Mallory", "Bob"])],
)
def test_what_follows_from_the_states_cannot_be_said_otherwise(member: str, value: object) -> None:
    content = json.loads(played().text)
    content[member] = value
    with pytest.raises(RecordChanged) as caught:
        inspected(json.dumps(content, indent=1))
    assert caught.value.member == ("checksum" if member == "names" else member)
    if member != "names":  # of which a new checksum is as good
        with pytest.raises(RecordChanged):
            inspected(rewritten(lambda content: content.update({member: value})))


def test_a_record_says_itself_that_names_prove_nothing() -> None:
    report = inspected(rewritten(lambda content: content.update(names=["\u001b[2JMallory", "Bob"])))
    lines = "\n".join(f"{each.name} {each.text}" for part in report_parts(report) for each in part.entries)
    assert "not checked names and time" in lines
    assert "\u001b" not in lines


def test_a_record_of_a_game_that_is_not_installed_is_not_believed() -> None:
    document = parse_subject(played().text)
    assert isinstance(document, GameRecordFile)
    with pytest.raises(GameMissing):
        inspect_record(document, [])
