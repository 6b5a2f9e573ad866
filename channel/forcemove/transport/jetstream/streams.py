"""What a NATS server stores for us: two streams with tables' logs, and the bucket of the lobby. They are made where
they are missing, and never changed."""

from __future__ import annotations

from functools import partial

from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from forcemove.transport.errors import StreamUnsuitable
from forcemove.transport.limits import CHANNEL_ENTRIES, GAME_ENTRIES, MAX_ENTRY
from forcemove.transport.terms import TableKind

_DAY = 86_400
_HEADERS = 1_024
"""Bytes of headers that a message may have in addition to its entry."""
MAX_MESSAGE = MAX_ENTRY + _HEADERS
"""Bytes of a message: the largest entry always fits."""
_DUPLICATES = 120.0
"""Seconds for which the server remembers the ids of posts. A post that is repeated later is looked for in the log
first."""
LOBBY, BUCKET, LOBBY_SUBJECT = "forcemove_lobby", "KV_forcemove_lobby", "$KV.forcemove_lobby."
"""The bucket, its stream, and the prefix of its keys as subjects."""
MAX_OFFERED = 8_192
"""Bytes of an offer in the bucket, with its join and all signatures."""

STREAMS = {TableKind.CHANNEL: "FORCEMOVE_CHANNELS", TableKind.GAME: "FORCEMOVE_GAMES"}
"""The stream of each kind of table: one drops the oldest entries of a full log, the other takes no more."""
_SUBJECTS = {TableKind.CHANNEL: "forcemove.channels.", TableKind.GAME: "forcemove.games."}

_stored = partial(
    StreamConfig,
    retention=RetentionPolicy.LIMITS,
    storage=StorageType.FILE,
    duplicate_window=_DUPLICATES,
    deny_delete=True,
    allow_direct=True,
)
"""What all of them have in common."""
CONFIGS = (
    _stored(
        name=STREAMS[TableKind.CHANNEL],
        description="Forcemove: logs of channels' tables. The oldest entries of a full log are dropped.",
        subjects=[_SUBJECTS[TableKind.CHANNEL] + "*"],
        discard=DiscardPolicy.OLD,
        max_msgs_per_subject=CHANNEL_ENTRIES,
        max_msg_size=MAX_MESSAGE,
        max_age=30 * _DAY,
    ),
    _stored(
        name=STREAMS[TableKind.GAME],
        description="Forcemove: logs of games' tables. A full log takes no more.",
        subjects=[_SUBJECTS[TableKind.GAME] + "*"],
        discard=DiscardPolicy.NEW,
        discard_new_per_subject=True,
        max_msgs_per_subject=GAME_ENTRIES,
        max_msg_size=MAX_MESSAGE,
        max_age=90 * _DAY,
    ),
    _stored(
        name=BUCKET,
        description="Forcemove: the lobby's offers, each under its hash.",
        subjects=[LOBBY_SUBJECT + ">"],
        discard=DiscardPolicy.NEW,
        max_msgs_per_subject=1,
        max_msg_size=MAX_OFFERED + _HEADERS,
        max_age=8 * _DAY,
        allow_rollup_hdrs=True,
    ),
)
"""The configurations of what is made where it is missing."""
_SAME = (
    "subjects",
    "retention",
    "storage",
    "discard",
    "discard_new_per_subject",
    "max_msgs_per_subject",
    "no_ack",
    "sealed",
    "mirror",
    "sources",
    "subject_transform",
)
"""Settings that must be as we make them, or messages would be lost, spoiled or missing. The others are the
operator's."""
_AT_LEAST = {"max_msg_size": MAX_MESSAGE, "max_age": _DAY, "duplicate_window": _DUPLICATES}
"""Settings that may be larger, or without a limit. The bucket's messages are smaller."""


def subject_of(kind: TableKind, table: bytes) -> str:
    """The subject of a table's entries."""
    return _SUBJECTS[kind] + table.hex()


async def prepare(js: JetStreamContext, url: str) -> None:
    """Make the streams and the bucket where they are missing. Raises `StreamUnsuitable` where one of them exists with
    unfit settings, and NATS's own errors."""
    for wanted in CONFIGS:
        _require_suitable(await _found_or_made(js, wanted), wanted, url)


async def _found_or_made(js: JetStreamContext, wanted: StreamConfig) -> StreamConfig:
    name = str(wanted.name)
    try:
        return (await js.stream_info(name)).config
    except NotFoundError:
        pass
    try:
        return (await js.add_stream(wanted)).config
    except BadRequestError:  # another client has made the stream first
        return (await js.stream_info(name)).config


def _require_suitable(found: StreamConfig, wanted: StreamConfig, url: str) -> None:
    for setting in _SAME:
        have, need = getattr(found, setting), getattr(wanted, setting)
        if (have or None) != (need or None):
            raise StreamUnsuitable(url, str(wanted.name), setting, str(have), str(need))
    for setting, least in _AT_LEAST.items():
        have, need = getattr(found, setting), min(least, getattr(wanted, setting))
        if have is not None and 0 < have < need:
            raise StreamUnsuitable(url, str(wanted.name), setting, f"{have:g}", f"{need:g} or more")
