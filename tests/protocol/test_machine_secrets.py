"""What a player wants to have kept: with the state that needs it, or not at all, and never shown."""

from __future__ import annotations

import pytest

from forcemove import ConcludeWanted, InvalidValue, MoveChosen
from forcemove.protocol.codec.limits import MAX_SECRETS
from tests.protocol.table import Seat, open_table

SECRETS = b"a paper, and the salt that hides it"


def move(seat: Seat, secrets: bytes | None) -> MoveChosen:
    plain = seat.next_move()
    return MoveChosen(plain.outcome, plain.app_data, secrets=secrets)


def test_secrets_are_kept_with_the_move_and_given_back_with_the_next_question() -> None:
    alice = open_table(until=5).seats[0]
    turn = alice.channel.next_turn
    alice.feed(move(alice, SECRETS))
    assert (alice.channel.next_turn, alice.channel.secrets) == (turn + 1, SECRETS)
    assert alice.channel.question(alice.newest.state).secrets == SECRETS


@pytest.mark.parametrize(("given", "kept"), [(None, SECRETS), (b"", b""), (b"newer", b"newer")])
def test_a_later_move_keeps_replaces_or_forgets_them(given: bytes | None, kept: bytes) -> None:
    alice, bob = open_table(until=5).seats
    alice.feed(move(alice, SECRETS))
    bob.poll()
    bob.feed(bob.next_move())
    alice.poll()
    alice.feed(move(alice, given))
    assert alice.channel.secrets == kept


def test_too_many_secrets_are_refused_with_the_move() -> None:
    alice = open_table(until=5).seats[0]
    before = alice.channel
    with pytest.raises(InvalidValue, match="secrets"):
        alice.feed(move(alice, bytes(MAX_SECRETS + 1)))
    assert alice.channel == before
    alice.feed(move(alice, bytes(MAX_SECRETS)))
    assert len(alice.channel.secrets) == MAX_SECRETS


def test_nothing_shows_them() -> None:
    alice = open_table(until=5).seats[0]
    chosen = move(alice, SECRETS)
    alice.feed(chosen)
    shown = (chosen, alice.channel, alice.channel.question(alice.newest.state))
    assert not [each for each in shown if "salt" in f"{each!r} {each!s}"]


def test_who_chooses_is_given_all_states_since_its_own_last_one() -> None:
    """Of three, who moves next has two states to look at: one of them would be hidden from it otherwise."""
    table = open_table(until=8, count=3)
    newest = table.seats[0].newest.state
    mover = table.seats[(newest.turn_num + 1) % 3]
    between = mover.channel.question(newest).between
    assert [each.turn_num for each in between] == [newest.turn_num - 1]
    assert between[0] == mover.channel.signed_states[-2].state


def test_between_two_there_is_nothing_but_the_newest_state() -> None:
    alice = open_table(until=7).seats[0]
    assert alice.channel.question(alice.newest.state).between == ()


def test_no_message_carries_them() -> None:
    alice, bob = open_table(until=5).seats
    alice.feed(move(alice, SECRETS))
    alice.feed(ConcludeWanted())
    assert bob.inbox
    assert not [message for message in bob.inbox if SECRETS in message or SECRETS.hex().encode() in message]
