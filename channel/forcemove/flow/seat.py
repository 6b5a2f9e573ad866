"""One participant at a table: its client, its messages on the log, and the work that keeps both going.

What a transport, an endpoint or a player's own function raises ends no flow, nor does a journal that is not available
for a while, because a client that nobody drives cannot defend itself: the error is reported to the seat's owner
(`Seat.on_error`), and the next look tries again. A flow ends by an error that trying again does not mend: a move that
breaks a rule, contracts that are not genuine, a log on which we have posted another action.

Knows no chain: the client is a `Participant`, given as a value.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from forcemove.errors import ChainError, ForcemoveError, JournalUnavailable, PassingError
from forcemove.flow.actions import Action, ActionCodec, MalformedAction
from forcemove.flow.queue import FAULTS, ActionQueue
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import Input

__all__ = ["UPDATES", "Line", "Participant", "Seat", "Update", "drive", "receive_next", "wait_and_drive", "feed"]

_LOG = logging.getLogger(__name__)
_POST_SECONDS = 10.0
"""Seconds that a log may take to keep a message, before the client does something else."""


class Update(Action, frozen=True):
    """A message of a channel, as an action: `message` is JSON as it is, see `protocol.codec.wire`."""

    message: msgspec.Raw


UPDATES: ActionCodec[Update] = ActionCodec(Update)
"""The codec of a table where nothing but a channel is played."""


class Participant(Protocol):
    """One participant's client, as a node's `ManagedChannel` is one."""

    @property
    def channel(self) -> Channel:
        """The channel as this participant sees it."""
        ...

    @property
    def phase(self) -> Phase:
        """The channel's phase, as far as it is known; raises nothing."""
        ...

    def feed(self, input_: Input) -> None:
        """Give the client our input."""
        ...

    async def catch_up(self) -> bool:
        """Return when new messages and chain updates are taken in and acted on; whether there were any. An error costs
        nothing: the next call goes on where this one stopped."""
        ...


class Line:
    """A client's messages on a queue of actions: those that it sends wait to be posted, those that were read wait to be
    received."""

    def __init__(self) -> None:
        self.unsent: deque[bytes] = deque()
        self.received: deque[bytes] = deque()

    def send(self, message: bytes) -> None:
        """Keep a message until the flow posts it. One that waits already is not posted twice: a log that takes none
        may bring others' greetings all the same, each of which asks for it."""
        if message not in self.unsent:
            self.unsent.append(message)

    def receive(self) -> Sequence[bytes]:
        """The messages that the flow has read since the last call."""
        messages = tuple(self.received)
        self.received.clear()
        return messages


def _warn(error: Exception) -> None:
    _LOG.warning("trying again after %s: %s", type(error).__name__, error)


@dataclass
class Seat:
    """One participant at a table: the context of a channel's steps.

    - `client_id`: our name on the log.
    - `participant`: our client, which sends and receives by `line`, and whose player answers None (the flow moves).
    - `line`: the client's messages.
    - `within`: seconds that a counterparty has for each turn.
    - `look_every`: seconds between looks at the chain while no message comes, and between two tries of what fails.
    - `show`: is called after whatever has happened.
    - `on_error`: is called with each error after which the flow tries again; it logs a warning unless another function
      is given, and what it raises ends the flow.
    - `faults`: the last hundred messages on the log that were not actions; play goes on after them.
    """

    client_id: str
    participant: Participant
    line: Line
    within: float = 60.0
    look_every: float = 1.0
    show: Callable[[], object] = field(default=lambda: None)
    on_error: Callable[[Exception], object] = _warn
    faults: deque[ForcemoveError] = field(default_factory=lambda: deque(maxlen=100))

    @property
    def next_turn(self) -> int:
        """The turn number of the channel's next state."""
        return self.participant.channel.next_turn


# --------------------------------------------------------------------------------------------------------- what it does


def feed(seat: Seat, input_: Input) -> bool:
    """Give our client an input; whether the client could take it. Raises where the input makes no sense."""
    try:
        seat.participant.feed(input_)
    except Exception as error:
        _report_error(seat, error)
        return False
    return True


def _report_error(seat: Seat, error: Exception) -> None:
    """Report an error to the seat's owner; but raise one that trying again does not mend."""
    passes = isinstance(error, PassingError | JournalUnavailable)
    passes = passes or (isinstance(error, ChainError) and seat.participant.phase is not Phase.CHECKING)
    if isinstance(error, ForcemoveError) and not passes:
        raise error
    seat.on_error(error)


async def wait_and_drive(queue: ActionQueue[Any], seat: Seat) -> None:
    """Wait for the next action, or until it is time to look at the chain, and let the client work."""
    await receive_next(queue, seat, seat.look_every)
    await drive(queue, seat)


async def drive(queue: ActionQueue[Any], seat: Seat) -> None:
    """Let the client work until it has nothing to do, and post its messages. The client has stored what it has
    signed."""
    changed = True
    while changed:
        changed = await _has_caught_up(seat)
        await _post(queue, seat)


async def _has_caught_up(seat: Seat) -> bool:
    try:
        changed = await seat.participant.catch_up()
        seat.show()
    except Exception as error:
        _report_error(seat, error)
        return False
    return changed


async def _post(queue: ActionQueue[Any], seat: Seat) -> None:
    """Post the client's messages. A message that is not posted in time is posted with the next look: a log that takes
    no message keeps no client from the chain. A message that is not an action is dropped, since no log would ever take
    it."""
    try:
        async with asyncio.timeout(_POST_SECONDS):
            while seat.line.unsent:
                await queue.enqueue(Update(seat.client_id, msgspec.Raw(seat.line.unsent[0])))
                seat.line.unsent.popleft()
    except MalformedAction as error:
        seat.line.unsent.popleft()
        seat.on_error(error)
    except TimeoutError:
        _report_error(seat, TimeoutError(f"the log has not taken a message for {_POST_SECONDS:g} seconds"))
    except Exception as error:
        _report_error(seat, error)


async def receive_next(queue: ActionQueue[Any], seat: Seat, seconds: float) -> bool:
    """Wait `seconds` for the next action; whether one has come."""
    try:
        async with asyncio.timeout(seconds) as limit:
            action = await queue.dequeue()
    except FAULTS as fault:
        seat.faults.append(fault)
        return True
    except Exception as error:
        if not (isinstance(error, TimeoutError) and limit.expired()):
            _report_error(seat, error)
            await asyncio.sleep(seconds)
        return False
    if isinstance(action, Update) and action.client_id != seat.client_id:
        seat.line.received.append(bytes(action.message))
    return True
