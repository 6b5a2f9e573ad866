"""What each button does, and that the money comes home after it."""

from __future__ import annotations

from typing import TypeVar

import pytest

from forcemove.browser.drawing.listing import listed_rows
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.chain.chain import Call
from forcemove.history.entries import (
    ConnectionLost,
    ConnectionRestored,
    FaultFound,
    LogIncluded,
    LogReorged,
    StateAccepted,
    TxRefused,
)
from forcemove.playground.buttons import groups_of, press
from forcemove.playground.match import PATIENCE
from forcemove.protocol.logs import Checkpointed, Responded
from forcemove.protocol.machine.channel import Phase
from tests.playground.games import TimedPlayground

_HOUR = 3_600
EntryT = TypeVar("EntryT")


@pytest.fixture
def played() -> TimedPlayground:
    """A game in which it is Alice's turn."""
    return TimedPlayground()


def entries(played: TimedPlayground, kind: type[EntryT]) -> list[EntryT]:
    playground = played.playground
    found = playground.history(playground.channel.agreement.channel_id).entries
    return [each for each in found if isinstance(each, kind)]


def phase(played: TimedPlayground) -> Phase:
    return played.playground.match.managed.phase


def paid(played: TimedPlayground) -> list[int]:
    """What the channel has paid to each, in stakes of a tenth of an ether."""
    return [each.due // 10**17 for each in played.playground.match.checks or ()]


def test_an_honest_game_is_paid_at_once(played: TimedPlayground) -> None:
    played.act("leave")
    played.require_right()
    assert paid(played) == [10, 10]


@pytest.mark.parametrize("absence", ["silent", "vanish"])
def test_a_silent_bob_is_challenged_and_the_clock_pays(played: TimedPlayground, absence: str) -> None:
    played.press(absence)
    played.move()
    played.wait(1)
    assert not played.playground.channel.is_our_turn
    played.act("challenge")
    assert phase(played) is Phase.CHALLENGED
    played.press("run-out")
    played.require_right()
    assert paid(played)[0] >= 10


@pytest.mark.parametrize("absence", ["silent", "vanish"])
def test_bob_comes_back_and_plays_on(played: TimedPlayground, absence: str) -> None:
    played.press(absence)
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(5)
    assert played.playground.channel.next_turn == turn + 1
    played.press("back")
    played.wait(5)
    assert played.playground.channel.next_turn == turn + 2
    played.end()
    played.require_right()


def test_a_late_bob_answers_later(played: TimedPlayground) -> None:
    played.press("late")
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(10)
    assert played.playground.channel.next_turn == turn + 1
    played.wait(10)
    assert played.playground.channel.next_turn == turn + 2


def test_a_late_bob_answers_a_challenge_on_the_chain(played: TimedPlayground) -> None:
    played.press("late")
    turn = played.playground.channel.next_turn
    played.move()
    played.act("challenge")
    played.wait(1)
    assert phase(played) is Phase.PLAYING
    assert played.playground.channel.next_turn == turn + 2
    assert [each.log for each in entries(played, LogIncluded) if isinstance(each.log, Responded)]


def test_an_old_state_is_answered_with_the_newest(played: TimedPlayground) -> None:
    played.move()
    played.wait(1)
    newest = played.playground.channel.next_turn - 1
    played.press("old")
    assert phase(played) is Phase.PLAYING
    answered = [each.log for each in entries(played, LogIncluded) if isinstance(each.log, Checkpointed)]
    assert [each.state.turn_num for each in answered] == [newest]
    played.end()
    played.require_right()


def test_an_old_state_pays_whoever_shows_it_where_nobody_can_answer(played: TimedPlayground) -> None:
    played.move()
    played.press("away")
    played.press("old")
    played.press("run-out")
    played.press("endpoint")
    played.wait(1)
    played.require_right()


@pytest.mark.parametrize("trick", ["illegal", "forge"])
def test_a_cheat_is_found_and_changes_nothing(played: TimedPlayground, trick: str) -> None:
    played.press(trick)
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(1)
    faults = entries(played, FaultFound)
    assert [each.participant for each in faults] == [1]
    assert faults[0].refused is not None
    assert played.playground.channel.next_turn == turn + 2
    played.end()
    played.require_right()


def test_a_withheld_move_is_found_on_the_chain(played: TimedPlayground) -> None:
    played.press("withhold")
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(1)
    assert played.playground.channel.next_turn == turn + 2
    assert [each.from_chain for each in entries(played, StateAccepted)][-1]
    assert phase(played) is Phase.CHALLENGED
    played.move()
    played.wait(1)
    assert phase(played) is Phase.PLAYING
    played.end()
    played.require_right()


def test_playing_fair_takes_back_what_bob_has_in_mind(played: TimedPlayground) -> None:
    for name in ("late", "illegal", "withhold", "fair"):
        played.press(name)
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(1)
    assert played.playground.channel.next_turn == turn + 2
    assert entries(played, FaultFound) == []


@pytest.mark.parametrize("fault", ["cut", "lose"])
def test_what_the_network_loses_is_sent_again(played: TimedPlayground, fault: str) -> None:
    played.press(fault)
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(0.5)
    played.press("mend")
    played.wait(5)
    assert played.playground.channel.next_turn == turn + 2


def test_a_cut_network_is_seen(played: TimedPlayground) -> None:
    played.wait(2)
    played.press("cut")
    played.wait(2)
    assert len(entries(played, ConnectionLost)) == 1
    assert not played.playground.overview().safety.is_connected
    played.press("mend")
    played.wait(2)
    assert len(entries(played, ConnectionRestored)) == 1


def test_a_slow_network_takes_its_time(played: TimedPlayground) -> None:
    played.press("delay")
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(1)
    assert played.playground.channel.next_turn == turn + 1
    played.wait(3)
    played.wait(3)
    assert played.playground.channel.next_turn == turn + 2


def test_repeated_messages_change_nothing(played: TimedPlayground) -> None:
    played.press("repeat")
    turn = played.playground.channel.next_turn
    played.move()
    played.wait(1)
    assert played.playground.channel.next_turn == turn + 2
    assert entries(played, FaultFound) == []


def test_an_undone_block_is_struck_and_comes_again(played: TimedPlayground) -> None:
    before = len(entries(played, LogIncluded))
    played.press("undo")
    played.wait(1)
    assert len(entries(played, LogReorged)) >= 1
    playground = played.playground
    history = playground.history(playground.channel.agreement.channel_id)
    standing = [
        each
        for place, each in enumerate(history.entries)
        if isinstance(each, LogIncluded) and place not in history.reorged
    ]
    assert len(standing) == before
    assert playground.channel.is_funded
    played.end()
    played.require_right()


def test_the_end_of_a_game_can_be_undone_too(played: TimedPlayground) -> None:
    played.act("leave")
    played.require_right()
    played.press("undo")
    played.end()
    played.require_right()


def test_dear_gas_is_paid_for_or_waited_for(played: TimedPlayground) -> None:
    played.press("dear")
    played.press("silent")
    played.move()
    played.act("challenge")
    played.wait(1)
    assert [each.kind for each in entries(played, TxRefused)] == ["GasTooDear"]
    assert phase(played) is Phase.PLAYING
    played.press("cheap")
    played.act("challenge")
    assert phase(played) is Phase.CHALLENGED
    played.press("run-out")
    played.require_right()


def test_an_endpoint_that_is_away_is_no_error_of_ours(played: TimedPlayground) -> None:
    played.press("away")
    played.wait(5)
    played.press("endpoint")
    played.end()
    played.require_right()


def test_the_clock_goes_with_ours_and_ten_minutes_on(played: TimedPlayground) -> None:
    played.wait(10)
    before = played.playground.now
    played.wait(7)
    assert played.playground.now == before + 7
    played.press("ten-minutes")
    assert played.playground.now == before + 607


def test_who_has_left_is_not_kept_waiting_for_ever(played: TimedPlayground) -> None:
    played.press("vanish")
    played.act("leave")
    played.wait(PATIENCE - 10)
    assert played.playground.match.finalizes_at == 0
    played.wait(20)
    played.wait(1)
    assert played.playground.match.finalizes_at != 0
    played.wait(_HOUR)
    played.require_right()


def test_a_click_for_an_earlier_turn_does_nothing(played: TimedPlayground) -> None:
    turn = played.playground.channel.next_turn
    word = played.moves[0]
    played.act(word)
    played.wait(1)
    now = played.playground.channel.next_turn
    assert now == turn + 2
    assert played.playground.act(word, turn) == ""
    assert played.playground.act("leave", turn) == ""
    assert played.playground.channel.next_turn == now
    assert not played.playground.channel.leaving


def test_a_shut_button_says_why_and_does_nothing(played: TimedPlayground) -> None:
    playground = played.playground
    assert press(playground, "run-out") == "No clock is running."
    assert press(playground, "new-tic-tac-toe").startswith("Finish this game first")
    assert press(playground, "nonsense") == "There is no such button."


def test_every_shut_button_has_a_reason_and_every_name_is_there_once(played: TimedPlayground) -> None:
    controls = [each for group in groups_of(played.playground) for each in group.controls]
    assert len({each.name for each in controls}) == len(controls)


@pytest.mark.parametrize("name", ["new-tic-tac-toe", "new-rock-paper-scissors"])
def test_another_game_begins_when_one_is_over(played: TimedPlayground, name: str) -> None:
    first = played.playground.channel.agreement.channel_id
    played.act("leave")
    played.press(name)
    assert played.playground.channel.agreement.channel_id != first
    assert name.endswith(played.playground.match.game.name)
    played.act("leave")
    played.require_right()


def test_the_guide_tells_the_balances_and_whatever_has_gone_wrong(played: TimedPlayground) -> None:
    played.act("leave")
    assert played.playground.guide.count("as expected") == 2


def test_an_error_that_no_button_has_caused_is_told(played: TimedPlayground, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("our mistake")

    monkeypatch.setattr(played.playground.endpoint.rpc, "ask", fail)
    played.wait(1)
    assert "our mistake" in played.playground.guide


def test_a_balance_that_is_wrong_is_told(played: TimedPlayground) -> None:
    elsewhere = Call(bytes(19) + b"\x01", b"", 10**18)
    played.playground.chain.send(elsewhere, played.playground.players[0].key)
    played.act("leave")
    assert "WRONG" in played.playground.guide
    assert not all(each.is_right for each in played.playground.match.checks or ())


def test_what_a_channel_that_is_paid_does_not_want_any_more_is_not_sent(played: TimedPlayground) -> None:
    """Its sender holds back what was undone after it was mined twice. A block later the channel is paid after all, and
    balances were compared some minutes late."""
    played.press("old")
    played.wait(1)
    played.move()
    played.wait(1)
    played.act("leave")
    played.wait(5)
    played.press("dear")
    for _ in range(3):
        played.press("undo")
    assert phase(played) is Phase.CLOSED
    assert not any(each.is_sending for each in played.playground.match.players)
    played.require_right()


def test_the_list_of_games_names_bob(played: TimedPlayground) -> None:
    rows, now = PlaygroundPages(played.playground).rows()
    assert [row.others.partition(" ")[0] for row in listed_rows(rows, now)] == ["Bob"]
