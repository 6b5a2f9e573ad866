"""The documents that commands print with `--json`, as TypeScript declares them, for `docs/commands.md`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from textwrap import fill
from typing import Any, Union, get_args, get_origin

from msgspec.structs import FieldInfo, fields

from forcemove.cli.demo.network.run import NetworkDemoDocument
from forcemove.cli.demo.without_money import TableDemoDocument
from forcemove.demo.results import DemoDocument
from forcemove.inspect import channel_json, documents
from forcemove.inspect.documents import Document, FailureDocument, FundedKeyDocument, KeyDocument
from forcemove.inspect.report_shapes import (
    BareDocument,
    CallDocument,
    ChannelDocument,
    DeploymentDocument,
    GameRecordReportDocument,
    SignedStateDocument,
)
from forcemove.sessions.meetings.lobby import LobbyDocument

DOCUMENTS: dict[str, Any] = {
    "channel list": channel_json.ChannelListDocument,
    "channel show": channel_json.JournalChannelDocument,
    "channel history": channel_json.ChannelHistoryDocument,
    "channel verify": channel_json.SoundnessDocument,
    "channel prune": channel_json.PruneDocument,
    "demo": DemoDocument | NetworkDemoDocument | TableDemoDocument,
    "inspect": SignedStateDocument | GameRecordReportDocument | BareDocument | CallDocument | ChannelDocument,
    "key new": KeyDocument,
    "key import": KeyDocument,
    "key show": KeyDocument,
    "key fund": FundedKeyDocument,
    "lobby": LobbyDocument,
    "verify": DeploymentDocument,
}
"""The document of each command that has `--json`. `deploy` prints the address book as its file has it; `relay` and
`watch` print log lines."""
_SCALARS = {getattr(documents, name): name for name in ("Address", "Amount", "Decimal", "Hash", "Hex", "Seconds")}
_WIDTH = 100
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}


def declarations() -> str:
    """What each command prints, and the declaration of every type in it."""
    found: dict[str, type[Document]] = {}
    rows = []
    for command, shape in DOCUMENTS.items():
        rows.append(f"| `{command}` | {' or '.join(f'`{_name(each)}`' for each in structs(shape))} |")
        _gather(shape, found)
    _gather(FailureDocument, found)
    scalars = [f"type {name} = {_scalar(shape)}" for shape, name in _SCALARS.items()]
    table = "\n".join(["| command | document |", "|---|---|", *rows])
    listing = "\n".join([*scalars, *map(_interface, found.values())])
    return f"{table}\n\n```ts\n{listing}\n```"


def structs(shape: Any) -> Iterator[type[Document]]:
    """The documents that a type names, however it is put together."""
    if isinstance(shape, type) and issubclass(shape, Document):
        yield shape
    for inner in get_args(shape):
        yield from structs(inner)


def _gather(shape: Any, found: dict[str, type[Document]]) -> None:
    for each in structs(shape):
        if _name(each) not in found:
            found[_name(each)] = each
            for field in fields(each):
                _gather(field.type, found)


def _interface(document: type[Document]) -> str:
    config = document.__struct_config__
    members = [f"{config.tag_field}: {config.tag!r}".replace("'", '"')] if config.tag_field else []
    members += [_member(field) for field in fields(document)]
    words = " ".join((inspect.getdoc(document) or "").split())
    declared = f"interface {_name(document)} {{ {'; '.join(members)} }}"
    return "\n".join([_wrapped(f"/** {words} */", " * "), _wrapped(declared, "  ")])


def _wrapped(text: str, indent: str) -> str:
    return fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _member(field: FieldInfo) -> str:
    return f"{field.encode_name}: {_type(field.type)}"


def _type(shape: Any) -> str:
    if shape in _SCALARS:
        return _SCALARS[shape]
    origin, inner = get_origin(shape), get_args(shape)
    if origin is list:
        element = _type(inner[0])
        return f"({element})[]" if " | " in element else f"{element}[]"
    if origin is dict:
        return f"Record<string, {_type(inner[1])}>"
    if origin in (Union, types.UnionType):
        return " | ".join(map(_type, inner))
    return _PLAIN[shape] if shape in _PLAIN else _name(shape)


def _scalar(shape: Any) -> str:
    kind, meta = get_args(shape)
    return f"{_PLAIN[kind]} // {meta.description}"


def _name(document: type[Document]) -> str:
    return document.__name__.removesuffix("Json")
