"""What a player is told of the money is what the chain has paid, whenever she looked, or that it is not known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
from msgspec.structs import replace

from forcemove import ETHER, VariablePart
from forcemove.protocol import adjudication as twin
from forcemove.protocol.adjudication import Transaction
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.logs import Log
from forcemove.protocol.machine import effects, inputs, machine, record
from forcemove.protocol.machine.channel import OVER, Channel
from forcemove.protocol.machine.results import ChannelResult, Ending, result_of
from tests.protocol import builders
from tests.protocol.builders import DOMAIN, players
from tests.protocol.table import Table, open_table

ENDS = ("clock", "clock, paid in parts", "end", "end while a clock runs")
LAST = ("a move", "an end that Bob has signed first")


@dataclass(frozen=True)
class Moment:
    """What the chain shows: its logs, the time, what the channel holds, and what Alice was paid."""

    logs: tuple[Log, ...]
    now: int
    held: int
    paid: int


class Story:
    """Bob can prove 50 for Alice. Her own last move gives her 80, and nobody may have it. He then ends the channel."""

    def __init__(self, last: str, end: str) -> None:
        self.table = table = open_table(until=3)
        alice, bob = table.seats
        alice.feed(alice.next_move(50))
        bob.poll()
        bob.feed(bob.next_move(50))
        alice.poll()
        self._before = [each.state for each in alice.channel.accepted[-2:]]
        alice.feed(alice.next_move(80))
        moved = alice.newest.state
        self._final = VariablePart(moved.outcome, b"", moved.turn_num + 1, True)
        if last == LAST[1]:
            alice.receive(table.signed(self._final, 1))
            alice.poll()
            assert alice.channel.final_outcome is not None
        self.channel, self.moments = alice.channel, [self._moment()]
        (self._clock if end.startswith("clock") else self._end)(end)

    def _moment(self) -> Moment:
        return Moment(
            tuple(self.table.logs), self.table.now, self.table.held, self.table.payouts[players(2)[0].address]
        )

    def _challenge(self) -> None:
        self.table.challenge(*self._before)
        self.moments.append(self._moment())

    def _clock(self, end: str) -> None:
        self._challenge()
        self.table.wait_for_expiry()
        self.moments.append(self._moment())
        for indices in ((0,), (0, 1)) if "parts" in end else ((),):
            self._pay(indices)
            self.moments.append(self._moment())

    def _pay(self, indices: tuple[int, ...]) -> None:
        table, owed = self.table, record.fold_all(self.table.logs, DOMAIN, self.table.now).owed
        assert owed is not None
        bob = Transaction(players(2)[1].address, table.now, 0)
        id_ = table.agreement.channel_id
        result = twin.transfer(table.chain, bob, id_, ETHER, owed.state_hash, owed.outcome, indices)
        table.chain = result.adjudication
        table.logs.extend(result.logs)
        for payment in result.payments:
            table.payouts[payment.to] += payment.amount

    def _end(self, end: str) -> None:
        if "clock" in end:
            self._challenge()
        signatures = tuple(builders.sign(key, self._final, self.table.agreement.fixed_part) for key in players(2))
        conclusion = effects.SubmitConclude(self._final.outcome, self._final.turn_num, signatures)
        self.table.transact(players(2)[1], conclusion)
        self.moments.append(self._moment())
        self.table.travel(10_000)
        self.moments.append(self._moment())


def look(channel: Channel, table: Table, moment: Moment, seen: int | None) -> Channel:
    """She looks, and does nothing. `seen`: how many logs she has read; None where she reads all of them anew."""
    news = tuple(inputs.LogSeen(each) for each in moment.logs[seen or 0 :])
    update = inputs.ChainUpdate((*news, inputs.HoldingsSeen(ETHER, moment.held)), from_scratch=seen is None)
    return machine.step(channel, update, moment.now, None, table.app)[0]


def require_told_as_paid(channel: Channel, moment: Moment) -> Ending:
    result = result_of(channel, moment.now)
    if result.ending is Ending.UNKNOWN:
        assert result.shares == ()
    elif not moment.held:
        assert (result.shares[0].payable, channel.phase(moment.now) in OVER) == (moment.paid, True)
    return result.ending


STORIES = {(last, end): Story(last, end) for last in LAST for end in ENDS if "clock" in end[:5] or last == LAST[1]}


@pytest.mark.parametrize("story", STORIES.values(), ids=map(", ".join, STORIES))
def test_threat_104_what_is_told_is_what_was_paid_whenever_she_looked(story: Story) -> None:
    """Each order of looks at one to four moments, with each of them as if anew: a restart, or a reorganisation."""
    endings = set()
    for looks in product((None, "on", "anew"), repeat=len(story.moments) - 1):
        channel, seen = story.channel, len(story.moments[0].logs)
        for how, moment in zip((*looks[:-1], looks[-1] or "on"), story.moments[1:], strict=True):
            if how is not None:
                channel = look(channel, story.table, moment, None if how == "anew" else seen)
                seen = len(moment.logs)
                endings.add(require_told_as_paid(channel, moment))
    assert endings & {Ending.CONCLUDED, Ending.UNANSWERED, Ending.UNKNOWN}


@pytest.mark.parametrize("first", STORIES.values(), ids=map(", ".join, STORIES))
@pytest.mark.parametrize("then", STORIES.values(), ids=map(", ".join, STORIES))
def test_threat_104_after_a_reorganisation_it_is_what_the_other_chain_has_paid(first: Story, then: Story) -> None:
    for before, after in product(first.moments[1:], then.moments[1:]):
        channel = look(then.channel, then.table, before, None)
        require_told_as_paid(look(channel, then.table, after, None), after)


def told_at_last(last: str, end: str) -> Ending:
    story = STORIES[last, end]
    return result_of(look(story.channel, story.table, story.moments[-1], None), story.moments[-1].now).ending


def test_it_is_not_known_only_where_the_logs_leave_it_open() -> None:
    """The channel was closed at once after a challenge, and we had signed an end that pays something else."""
    told = {key: told_at_last(*key) for key in STORIES}
    assert [key for key, ending in told.items() if ending is Ending.UNKNOWN] == [(LAST[1], ENDS[0]), (LAST[1], ENDS[3])]
    assert told[LAST[0], ENDS[0]] is told[LAST[1], ENDS[1]] is Ending.UNANSWERED
    assert told[LAST[1], ENDS[2]] is Ending.CONCLUDED


def test_who_watches_knows_what_was_concluded_while_a_clock_ran() -> None:
    story = STORIES[LAST[1], ENDS[3]]
    begun, ended = story.moments[1:3]
    channel = look(look(story.channel, story.table, begun, None), story.table, ended, len(begun.logs))
    assert result_of(channel, ended.now).ending is Ending.CONCLUDED


def test_before_a_payment_is_seen_it_is_said_that_none_was() -> None:
    story = STORIES[LAST[0], ENDS[0]]
    expired = story.moments[2]
    channel = look(story.channel, story.table, expired, None)
    result = result_of(channel, expired.now)
    assert (result.ending, result.shares[0].payable) == (Ending.EXPIRED, 50)


@pytest.mark.parametrize("story", STORIES.values(), ids=map(", ".join, STORIES))
def test_what_was_paid_is_kept_in_a_journal(story: Story) -> None:
    channel = look(story.channel, story.table, story.moments[-1], None)
    assert CHANNELS.decode(CHANNELS.encode(channel)) == channel


def test_what_an_older_program_has_stored_does_not_say_what_was_paid() -> None:
    story = STORIES[LAST[1], ENDS[2]]
    older = replace(story.channel, record=record.Record(payout_begun=True, closed=True))
    assert result_of(older, story.moments[-1].now) == ChannelResult(Ending.UNKNOWN, ())
