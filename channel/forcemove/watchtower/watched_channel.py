"""One channel that a tower watches: its appointments, what the chain says, and which answers are due. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forcemove.protocol.agreement import Agreement
from forcemove.protocol.machine.inputs import Clock, ViewsDiffer
from forcemove.protocol.machine.record import EMPTY_RECORD, Record
from forcemove.protocol.machine.responses import Answer, answer_to_status, best_answer, concluding_answer
from forcemove.protocol.words import Mode, Status
from forcemove.watchtower.acceptance import AcceptedAppointment
from forcemove.watchtower.appointment import Appointment


@dataclass(frozen=True, slots=True)
class Due:
    """An answer to send for a client (20 bytes). `deadline`: the block time (seconds) by which it must be mined, None
    where it may wait."""

    client: bytes
    submission: Answer
    deadline: int | None


@dataclass(eq=False)
class WatchedChannel:
    """A channel. `accepted`: the appointment of each client (20 bytes). `record`: what all endpoints agree on;
    `differences`: what only some show. `over_at`: the newest block when the channel was first seen to be over.
    `retry_from`: how many blocks must have been seen before an answer is tried again. `wakes_at`: the block time
    (seconds) at which the tower is to attend it, None where it need not."""

    agreement: Agreement
    from_block: int
    accepted: dict[bytes, AcceptedAppointment] = field(default_factory=dict)
    record: Record = EMPTY_RECORD
    differences: ViewsDiffer = field(default_factory=ViewsDiffer)
    over_at: int | None = None
    retry_from: int = 0
    wakes_at: int | None = None

    @property
    def id(self) -> bytes:
        """The channel's id."""
        return self.agreement.channel_id

    def on_chain_update(self, record: Record | None, differences: ViewsDiffer | None) -> None:
        """Take in what all endpoints agree on now, and what they do not, None where that is as before. Answers that
        have failed before may be tried again at once."""
        if record is not None:
            self.record, self.retry_from = record, 0
        if differences is not None:
            self.retry_from = self.retry_from if set(differences.clocks) <= set(self.differences.clocks) else 0
            self.differences = differences

    def is_over(self, now: int) -> bool:
        """Whether no answer is possible any more: the channel is finalized, or closed."""
        return self.record.payout_begun or self.record.status.mode(now) is Mode.FINALIZED

    def next_due(self, now: int) -> int | None:
        """The block time (seconds) at which there may be something to do: not after `now` where a clock runs, something
        is due, or the channel is over; None where there is nothing until something happens."""
        if self.differences.clocks or self.is_over(now) or self.record.status.mode(now) is Mode.CHALLENGE:
            return now
        return min((each.conclude_at for each in self.accepted.values() if each.conclude_at is not None), default=None)

    def due(self, now: int, latest: int, head_start: int) -> Iterator[Due]:
        """The answers that may be sent: the best first, client by client; one of them is enough. `now`: the block time
        by which deadlines are judged, `latest`: the latest that any endpoint shows. `head_start`: seconds of a
        challenge that are left to others, at most half of its time; an endpoint that lies about the time can only
        shorten it."""
        clocks = list(self.differences.clocks)
        mode = Mode.FINALIZED if self.is_over(now) else self.record.status.mode(now)
        if mode is Mode.CHALLENGE:
            clocks.insert(0, Clock(self.record.status, self.record.recorded))
        for clock in clocks:
            if latest >= self._answer_from(clock.status, head_start):
                yield from self._answers(clock, self._deadline(clock.status, now or latest))
        if not clocks and mode is Mode.OPEN:
            yield from self._conclusions(now)

    def _answer_from(self, status: Status, head_start: int) -> int:
        duration = self.agreement.fixed_part.challenge_duration
        return status.finalizes_at - duration + min(head_start, duration // 2)

    def _deadline(self, status: Status, now: int) -> int:
        """By when an answer must be mined. A clock that only some endpoints show may be invented, so that all that an
        answer may cost is offered at once: it has half of a challenge's time at least."""
        least = 0 if status == self.record.status else now + self.agreement.fixed_part.challenge_duration // 2
        return max(status.finalizes_at, least)

    def _answers(self, clock: Clock, deadline: int) -> Iterator[Due]:
        for each in sorted(self.accepted.values(), key=_rank, reverse=True):
            for answer in _answers(each.appointment, clock):
                yield Due(each.client, answer, deadline)

    def _conclusions(self, now: int) -> Iterator[Due]:
        for each in self.accepted.values():
            if each.conclude_at is not None and now >= each.conclude_at:
                conclude = concluding_answer(self.agreement.fixed_part, each.appointment.supported[-1])
                if conclude is not None:
                    yield Due(each.client, conclude, None)


def _rank(accepted: AcceptedAppointment) -> tuple[bool, int]:
    return accepted.strength.is_finished, accepted.strength.turn_num


def _answers(appointment: Appointment, clock: Clock) -> Iterator[Answer]:
    """The answers to a challenge, the best first: to conclude, else the newest state. Of a challenge whose log was left
    out only the status is known."""
    fixed_part = appointment.agreement.fixed_part
    chains = [appointment.supported, appointment.replies]
    if not appointment.is_finished and appointment.turn_num > appointment.supported_turn:
        chains.reverse()
    for held in chains:
        if clock.recorded is None:
            answer = answer_to_status(fixed_part, clock.status, held)
        else:
            answer = best_answer(fixed_part, clock.recorded.signed_by(fixed_part.participants), held)
        if answer is not None:
            yield answer
