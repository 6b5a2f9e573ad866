"""What a player is told when a channel is over, and how long a game without a chain waits to say so."""

from __future__ import annotations

from itertools import count

import pytest

from forcemove import ETHER, ChallengeWanted, Phase, TableKind
from forcemove.chain.chain import Receipt
from forcemove.chain.errors import TransactionReverted
from forcemove.cli.pages import result_lines
from forcemove.node.events import Mined, SubmissionRefused
from forcemove.protocol.machine.effects import SubmitPayCredit
from forcemove.protocol.machine.results import ChannelResult, Ending, Share
from forcemove.protocol.rule_errors import NoChallenge
from forcemove.sender.errors import Overtaken, RevertsAgain
from forcemove.sessions.messenger_tasks import messenger_for, until_delivered
from forcemove.sessions.playing.ends import EndObserver, end_lines, race_text
from forcemove.text.amounts import format_amount
from forcemove.transport.terms import TableTerms as LogTable
from tests.protocol.builders import PLAYERS
from tests.protocol.table import Table, agreed_table, counting_table, open_table, seated

SUBMISSION = SubmitPayCredit(bytes(20), ETHER, 1)


def told(table: Table, seen: EndObserver) -> list[str]:
    alice = table.seats[0]
    return list(end_lines(seen.of(alice.channel, table.now), 0, seen))


def test_who_has_signed_the_end_together_is_told_who_won_and_what_was_paid() -> None:
    table = counting_table()
    table.run()
    paid = table.payouts[table.seats[0].key.address]
    lines = told(table, EndObserver())
    assert f"{format_amount(paid)} was paid to you." in lines[0]
    assert lines[1] == "ended       Concluded together: all have signed its end."
    assert lines[2].startswith(f"paid        Host (you) {format_amount(paid)}, Guest ")
    assert len(lines) == 3


def test_after_an_old_state_was_paid_the_player_is_told_what_was_paid() -> None:
    """Once the channel is closed only who has seen it before knows."""
    table, alice, bob = seated(open_table(until=3))
    for seat, other, take in ((alice, bob, 80), (bob, alice, 30), (alice, bob, 10)):
        seat.feed(seat.next_move(take))
        other.poll()
    bob.is_away = alice.is_away = True
    table.challenge(*(each.state for each in alice.channel.accepted[-3:-1]))
    table.wait_for_expiry()
    seen = EndObserver()
    alice.read_chain()
    assert [alice.phase] == [Phase.FINALIZED]
    seen.observe(table.now)
    alice.is_away = False
    table.run([alice])
    assert [alice.phase] == [Phase.CLOSED]
    lines = told(table, seen)
    assert "The chain has decided" in lines[1]
    assert lines[2] == f"paid        Host (you) {format_amount(30)}, Guest {format_amount(70)}"


def test_what_is_not_known_or_not_paid_yet_is_told_as_that() -> None:
    shares = (Share(ETHER, 0, 50, 30, 30), Share(ETHER, 1, 50, 70, 70))
    unknown, expired = ChannelResult(Ending.UNKNOWN, ()), ChannelResult(Ending.EXPIRED, shares)
    assert [line[:12].strip() for line in end_lines(unknown, 0, EndObserver())] == ["result", "ended"]
    lines = list(end_lines(expired, 0, EndObserver()))
    assert lines[0].endswith(f"{format_amount(30)} will be paid to you.")
    assert lines[1] == "ended       A clock has run out, and no payment was seen yet."
    assert lines[2].startswith("to be paid  Host (you)")
    assert "not known" in next(result_lines(unknown))
    assert [line[:12].strip() for line in result_lines(expired)] == ["ended", "to be paid"]


def test_who_was_never_joined_is_told_what_came_back() -> None:
    """Also where the chain's clock is ahead of this machine's."""
    table, alice, bob = seated(agreed_table())
    bob.is_away = True
    table.run()
    alice.feed(ChallengeWanted())
    table.run()
    table.wait_for_expiry()
    table.run([alice])
    seen = EndObserver()
    seen.observe(table.now)
    lines = list(end_lines(seen.of(alice.channel, 0), 0, seen))
    assert lines[0].endswith(f"Not all have paid in; {format_amount(50)} came back to you.")
    assert lines[1] == "ended       Never funded: not everybody has paid in."
    theirs = list(end_lines(seen.of(alice.channel, 0), 1, seen))
    assert theirs[0] == "result      Not all have paid in; you had paid in nothing."


def test_what_came_too_late_is_told_with_what_it_cost() -> None:
    seen = EndObserver()
    late = SubmissionRefused(SUBMISSION, Overtaken(bytes(32), 7, 21_000, None, 5), cost=5)
    failed = TransactionReverted(bytes(32), 7, 21_000, None)
    seen.add(Mined(SUBMISSION, Receipt(bytes(32), 7, bytes(32), 10, 2, None, ())))
    seen.add(late)
    seen.add(SubmissionRefused(SUBMISSION, RevertsAgain(bytes(32), 7, 21_000, None, 3, 7), cost=7))
    seen.add(SubmissionRefused(SUBMISSION, failed, cost=9))  # why, is not known
    seen.add(SubmissionRefused(SUBMISSION, failed))  # nothing was sent
    assert (seen.cost, seen.transactions) == (20 + 5 + 7 + 9, 4)
    assert race_text(late) == (
        f"chain       paycredit: the other was faster, in block 7. Nothing is lost; it cost {format_amount(5)}."
    )
    unsent = SubmissionRefused(SUBMISSION, NoChallenge(bytes(32)))
    assert race_text(unsent) == "chain       paycredit: the other was faster. Nothing is lost, and nothing was sent."
    assert race_text(SubmissionRefused(SUBMISSION, failed)) is None


@pytest.mark.parametrize("patience", [1, 3])
def test_the_end_of_a_friendly_game_waits_for_a_relay_only_for_a_while(patience: int) -> None:
    """And says that it waits no longer."""
    said: list[str] = []
    participants = tuple(key.address for key in PLAYERS[:2])
    table = LogTable(TableKind.CHANNEL, participants, bytes(32))
    line = messenger_for("ws://127.0.0.1:9", table, PLAYERS[0], said.append, is_new=True)
    seconds = count()
    is_done = False
    has_ended = until_delivered(lambda: is_done, line, patience, said.append, lambda: next(seconds))
    assert not has_ended()
    is_done = True
    assert has_ended()
    line.send(b"the end")
    waited = 1
    while not has_ended():
        waited += 1
        assert waited < 10
    assert waited == patience  # each look is a second later
    assert [each.partition(" has not taken")[0] for each in said] == ["relay       ws://127.0.0.1:9"]
