"""Spectators: a client without a seat or a key follows a table through its public view, and sees nothing more.

A client at the table relays to a feed, which is any log: first the present public view, and after it each action with
what the action newly shows (see `forcemove_games.views`). A content that is too large for one message of a log travels
in parts, one after the other. A spectator, which may come at any time, replays them. It believes the view with which it
begins; every later view must follow from it by the game's own rules. The relay stores only the public view of the
game's state.

Knows no game: it is given one, as a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from forcemove import MAX_ACTION, MAX_RELAYED, CounterpartyError
from forcemove.flow.actions import Action, ActionCodec, MalformedAction, require_shallow, type_of
from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, UnexpectedAction, transition
from forcemove.flow.transport import Transport
from forcemove_games.views import Json, NewInfo, PlayResult, ViewedGame, filter_state, replay_action

_PART = 16_000
"""Characters of every part but the last. However they are written, at 4 bytes at most, an action has room for them and
for a client's id."""
_MAX_PARTS = MAX_RELAYED // _PART + 1


class Start(Action, frozen=True):
    """The public view as it is now, from the relaying client."""

    view: Any


class Disclosure(Action, frozen=True, tag="Shown"):
    """An action, as the game's views have it, and what it newly shows to the public."""

    action: Any
    new_info: NewInfo


class Part(Action, frozen=True):
    """A part of a `Start` or a `Disclosure` that has more bytes than an action may have. `text`: of its JSON, 16,000
    characters, and the rest in the last part. `index`: from 0. `count`: of all its parts, which follow each other."""

    index: int
    count: int
    text: str


Message = Start | Disclosure
_T = TypeVar("_T")
FEED: ActionCodec[Start | Disclosure | Part] = ActionCodec(Start, Disclosure, Part)
"""The codec of a feed."""
_MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_ENCODER = msgspec.json.Encoder(order="sorted")


class FalseDisclosure(CounterpartyError):
    """The action that `client_id` relays does not follow from what it has relayed before. Whatever the players have
    done, an honest client plays an action by the rules itself before it shows it."""

    client_id: str
    reason: str


class PartRefused(CounterpartyError):
    """Part `index` of `count`, which `client_id` has sent, cannot come now: it is out of order, one of too many, of
    another message, or has another length than it must have. `expected`: the index that comes next."""

    client_id: str
    index: int
    count: int
    expected: int
    reason: str


# --------------------------------------------------------------------------------------------------------- at the table


class Relay:
    """One client at a table, which shows the game to spectators."""

    def __init__(self, client_id: str, game: ViewedGame, state: Json, viewer: str | None = None) -> None:
        """`client_id`: the relaying client. `state`: the game's state now. `viewer`: whose view is the public one; None
        where the game has one filter for all. Raises what `filter_state` raises."""
        self._client_id, self._game, self._viewer = client_id, game, viewer
        self._view = filter_state(game, state, viewer)
        self._waiting: set[asyncio.Queue[Disclosure | None]] = set()
        self._is_closed = False

    def show(self, action: Json, played: PlayResult) -> None:
        """Show an action that was played. Returns at once: players never wait for a spectator."""
        self._view = filter_state(self._game, played.state, self._viewer)
        new_info = played.new_info if self._viewer is None else played.new_info[self._viewer]
        for waiting in self._waiting:
            waiting.put_nowait(Disclosure(self._client_id, action, new_info))

    def close(self) -> None:
        """End the feeds, once the remaining actions are posted."""
        self._is_closed = True
        for waiting in self._waiting:
            waiting.put_nowait(None)

    async def feed(self, transport: Transport) -> None:
        """Post the view as it is now, and then every action, until `close` is called.

        Run it as a task for each feed: it is as fast as its transport, and an error of one feed stops no other. Raises
        `MalformedAction` on a message of more than `MAX_RELAYED` bytes, and what the transport raises.
        """
        waiting: asyncio.Queue[Disclosure | None] = asyncio.Queue()
        message: Start | Disclosure | None = Start(self._client_id, self._view)
        self._waiting.add(waiting)
        if self._is_closed:
            waiting.put_nowait(None)
        try:
            while message is not None:
                for each in _encoded(message):
                    await transport.post(each)
                message = await waiting.get()
        finally:
            self._waiting.discard(waiting)


def _encoded(message: Message) -> Iterator[bytes]:
    """The actions to post: the message, or all its parts. Raises `MalformedAction` before the first of them."""
    data = _ENCODER.encode(message)
    if len(data) <= MAX_ACTION:
        return iter([FEED.encode(message)])
    joined(data, message.client_id)
    text = data.decode()
    texts = [text[start : start + _PART] for start in range(0, len(text), _PART)]
    return (FEED.encode(Part(message.client_id, index, len(texts), each)) for index, each in enumerate(texts))


def joined(data: bytes, client_id: str) -> Message:
    """The message in the bytes of all its parts, which were received or are to be sent. Raises `MalformedAction`."""
    _require_size(len(data), client_id)
    try:
        require_shallow(data)
        message = _MESSAGE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAction(str(error), client_id) from None
    if _ENCODER.encode(message) != data or message.client_id != client_id:
        raise MalformedAction("it is not in canonical form", client_id)
    if len(data) <= MAX_ACTION:
        raise MalformedAction(f"it has {len(data)} bytes, and came in parts; up to {MAX_ACTION} come as one", client_id)
    return message


def _require_size(size: int, client_id: str) -> None:
    if size > MAX_RELAYED:
        raise MalformedAction(f"it has {size} bytes or more; {MAX_RELAYED} are allowed", client_id)


# ------------------------------------------------------------------------------------------------------ in the audience


@dataclass
class Spectator:
    """One spectator: the context of its steps. `follows`: the client that relays. `view`: the game as it is seen; None
    before it has begun."""

    game: ViewedGame
    follows: str
    view: Json = None


def following(until: Callable[[Json], bool], *, within: float) -> Step[Spectator]:
    """Watch until `until` holds of the view. `within`: seconds that we wait for each message.

    Raises `FalseDisclosure`, `ActionMissing`, `UnexpectedAction`, `UnexpectedSender`, `PartRefused`, and
    `MalformedAction`. The view is then the last valid one.
    """
    begin = _receiving(Start, _begin, within)
    go_on = _receiving(Disclosure, _go_on, within)

    async def step(queue: ActionQueue[Any], spectator: Spectator) -> None:
        await begin(queue, spectator)
        while not _judged(spectator.follows, lambda: until(spectator.view)):
            await go_on(queue, spectator)

    return step


def _receiving(kind: type[Message], on_message: Callable[[Any, Spectator], None], within: float) -> Step[Spectator]:
    """Wait for a message of one kind, whole or in parts."""

    async def step(queue: ActionQueue[Any], spectator: Spectator) -> None:
        parts = _Parts()

        def take(action: Message | Part, spectator: Spectator) -> None:
            message = parts.taken(action) if isinstance(action, Part) else action
            if message is not None:
                _require_kind(message, kind)
                on_message(message, spectator)

        await transition(take, expects=(kind, Part), sender=_relaying, within=within)(queue, spectator)
        while parts.are_missing:
            await transition(take, expects=Part, sender=_relaying, within=within)(queue, spectator)

    return step


def _require_kind(message: Message, kind: type[Message]) -> None:
    if type(message) is not kind:
        raise UnexpectedAction(message.client_id, (type_of(kind),), message)


class _Parts:
    """Collects the parts of one message. They have one sender, which the steps check."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._count = 0
        self._size = 0

    @property
    def are_missing(self) -> bool:
        """Whether a message has begun and is not complete."""
        return len(self._texts) < self._count

    def taken(self, part: Part) -> Message | None:
        """The message, with its last part; None before. Raises `PartRefused` and `MalformedAction`."""
        self._require_due(part)
        self._texts.append(part.text)
        self._count = part.count
        self._size += len(part.text.encode())
        _require_size(self._size, part.client_id)
        return None if self.are_missing else joined("".join(self._texts).encode(), part.client_id)

    def _require_due(self, part: Part) -> None:
        expected, is_last = len(self._texts), part.index == part.count - 1
        if part.index != expected:
            reason = "it is not the next"
        elif not 2 <= part.count <= _MAX_PARTS:
            reason = f"a message may have 2 to {_MAX_PARTS} parts"
        elif self._count not in (0, part.count):
            reason = f"there were to be {self._count} parts"
        elif len(part.text) != _PART and not (is_last and 0 < len(part.text) < _PART):
            reason = f"it has {len(part.text)} characters; all have {_PART} but the last, which may have fewer"
        else:
            return
        raise PartRefused(part.client_id, part.index, part.count, expected, reason)


def _relaying(spectator: Spectator) -> str:
    return spectator.follows


def _begin(start: Start, spectator: Spectator) -> None:
    spectator.view = start.view


def _go_on(shown: Disclosure, spectator: Spectator) -> None:
    def replayed() -> Json:
        return replay_action(spectator.game, spectator.view, shown.action, shown.new_info)

    spectator.view = _judged(shown.client_id, replayed)


def _judged(client_id: str, judge: Callable[[], _T]) -> _T:
    """The result of `judge`. A game need not expect views and actions that it would never make, so any error that it
    raises is the relaying client's fault."""
    try:
        return judge()
    except Exception as error:
        raise FalseDisclosure(client_id, f"{type(error).__name__}: {error}") from error
