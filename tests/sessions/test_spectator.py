"""What a log proves to a stranger: signatures and rules are checked, and nothing else is believed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forcemove import ForcemoveError, MalformedBytes, SignedState, UnknownVersion
from forcemove.browser.watching.view import watch_view
from forcemove.browser.watching.watch_site import watch_panels
from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove.protocol.errors import SignatureMissing, StateConflict
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.sessions.watching.spectator import ChannelSpectator
from forcemove.sessions.watching.watch_link import WATCH_HEAD, WatchLink, parse_watch_link
from forcemove.sessions.watching.watched_tables import WatchedTable
from forcemove_games.tic_tac_toe import GAME
from tests.cli.saved import Saved, final_of, state_of
from tests.protocol.builders import ALICE, BOB, MALLORY, outcome

SAVED = Saved()
LINK = WatchLink("ws://127.0.0.1:7000", GAME.name, SAVED.domain, SAVED.fixed)


@pytest.fixture
def spectator() -> ChannelSpectator:
    return ChannelSpectator(LINK, GAME)


def message(signed: SignedState) -> bytes:
    return encode_message(SAVED.id, signed)


def turn(number: int) -> bytes:
    return message(SAVED.signed(state_of(number)))


def fault(spectator: ChannelSpectator) -> ForcemoveError:
    """The one fault."""
    (found,) = spectator.faults
    return found


def newest(spectator: ChannelSpectator) -> int:
    assert spectator.newest is not None
    return spectator.newest.state.turn_num


def begin(spectator: ChannelSpectator) -> None:
    """Turn 4 is believed."""
    for number in (3, 4):
        spectator.take(turn(number))


def test_a_game_is_followed_from_its_beginning(spectator: ChannelSpectator) -> None:
    for number in range(8):
        assert spectator.take(turn(number))
    assert [each.state.turn_num for each in spectator.states] == list(range(8))
    assert spectator.is_whole
    assert not spectator.faults
    assert not spectator.take(turn(5))
    assert not spectator.take(encode_greeting(SAVED.id, 0, 3))


def test_a_spectator_sees_the_score(spectator: ChannelSpectator) -> None:
    ended = 0
    for number in range(30):
        spectator.take(turn(number))
        spectator.take(turn(number))
        ended += GAME.result(state_of(number)) is not None
    assert ended > 1
    view = watch_view(LINK, GAME, WatchedTable(spectator, lambda: None), "form-token")
    assert view.score == f"Host 0, Guest 0, drawn {ended}"
    assert f"Rounds won: {view.score}" in watch_panels(view)["watched"]


def test_a_log_whose_beginning_was_dropped_is_not_whole(spectator: ChannelSpectator) -> None:
    for number in (5, 6):
        spectator.take(turn(number))
    assert newest(spectator) == 6
    assert not spectator.is_whole


def test_one_player_alone_cannot_invent_a_later_position(spectator: ChannelSpectator) -> None:
    """Bob, whose turn the later states are, wants it to look as if he had won."""
    begin(spectator)
    robbed = replace(final_of(9), outcome=outcome(0, 20))
    for state in (state_of(9), robbed, replace(state_of(7), app_data=b"nonsense")):
        spectator.take(message(SAVED.signed(state, BOB)))
    assert newest(spectator) == 4
    spectator.take(turn(5))
    assert newest(spectator) == 5


def test_after_a_gap_a_state_is_believed_once_all_have_signed_what_led_to_it(spectator: ChannelSpectator) -> None:
    for number in (0, 1, 2):
        spectator.take(turn(number))
    assert not spectator.take(turn(5))
    assert newest(spectator) == 2
    assert spectator.take(turn(6))
    assert [each.state.turn_num for each in spectator.states] == [0, 1, 2, 5, 6]
    assert not spectator.is_whole


def test_after_a_gap_a_state_that_all_have_signed_is_believed(spectator: ChannelSpectator) -> None:
    spectator.take(turn(0))
    spectator.take(message(SAVED.signed(state_of(5), BOB)))
    assert newest(spectator) == 0
    assert spectator.take(message(SAVED.signed(state_of(5), ALICE, BOB)))
    assert newest(spectator) == 5


def test_after_a_gap_states_that_do_not_follow_each_other_are_not_believed(spectator: ChannelSpectator) -> None:
    spectator.take(turn(5))
    spectator.take(message(SAVED.signed(replace(state_of(6), app_data=state_of(4).app_data))))
    assert spectator.newest is None


def test_a_state_that_its_mover_has_not_signed_is_not_believed(spectator: ChannelSpectator) -> None:
    begin(spectator)
    spectator.take(message(SAVED.signed(state_of(5), ALICE)))
    assert isinstance(fault(spectator), SignatureMissing)
    assert newest(spectator) == 4


def test_a_forged_signature_is_not_believed(spectator: ChannelSpectator) -> None:
    begin(spectator)
    state = state_of(5)
    spectator.take(message(SignedState(state, {1: SAVED.signature(MALLORY, state)})))
    assert isinstance(fault(spectator), WrongSigner)
    assert newest(spectator) == 4


def test_an_illegal_move_is_not_believed(spectator: ChannelSpectator) -> None:
    begin(spectator)
    spectator.take(message(SAVED.signed(replace(state_of(5), app_data=state_of(4).app_data))))
    assert spectator.refused == 1
    assert newest(spectator) == 4


def test_two_states_of_one_turn_are_a_fault(spectator: ChannelSpectator) -> None:
    begin(spectator)
    spectator.take(message(SAVED.signed(replace(state_of(4), app_data=state_of(6).app_data))))
    assert isinstance(fault(spectator), StateConflict)


def test_more_signatures_on_the_newest_state_are_taken(spectator: ChannelSpectator) -> None:
    begin(spectator)
    assert spectator.take(message(SAVED.signed(state_of(4), ALICE, BOB)))
    assert spectator.newest is not None
    assert spectator.newest.signers == {0, 1}


@pytest.mark.parametrize("entry", [b"", b"{}", b"\xff", b"x" * 100])
def test_what_is_no_message_is_not_believed(spectator: ChannelSpectator, entry: bytes) -> None:
    assert spectator.take(entry)
    assert isinstance(fault(spectator), MalformedBytes)
    assert spectator.newest is None


def test_a_message_of_another_channel_is_not_believed(spectator: ChannelSpectator) -> None:
    spectator.take(encode_message(bytes(32), SAVED.signed(state_of(0))))
    assert isinstance(fault(spectator), MalformedBytes)


def test_a_link_is_read_back() -> None:
    assert parse_watch_link(f" {str(LINK).upper()}\n") == LINK
    assert LINK.channel_id == SAVED.id


def test_a_link_with_one_other_letter_is_refused() -> None:
    text = str(LINK)
    for place in range(len(WATCH_HEAD), len(text) - 1):
        letter = "a" if text[place] != "a" else "b"
        with pytest.raises((MalformedBytes, UnknownVersion)):
            parse_watch_link(text[:place] + letter + text[place + 1 :])


@pytest.mark.parametrize("change", ["cut", "head", "empty", "marks"])
def test_a_link_that_was_changed_is_refused(change: str) -> None:
    text = str(LINK)
    changed = {
        "cut": text[:-9],
        "head": text.replace(WATCH_HEAD, "forcemove2x"),
        "empty": WATCH_HEAD,
        "marks": text + "!",
    }[change]
    with pytest.raises((MalformedBytes, UnknownVersion)):
        parse_watch_link(changed)
