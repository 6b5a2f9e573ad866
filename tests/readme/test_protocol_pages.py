"""What docs/protocol says of the relay is so: it has every message, field and reason, and its types are ours."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from forcemove.protocol.codec.limits import MAX_ACTION
from forcemove.protocol.encoding import MESSAGE_TYPE
from forcemove.transport.errors import Reason
from forcemove.transport.joins import JOIN_TYPE, PRESENCE_TYPE
from forcemove.transport.limits import MAX_ENTRY, MAX_FRAME
from forcemove.transport.links import LINK_HEAD
from forcemove.transport.offers import OFFER_TYPE, WITHDRAWAL_TYPE
from forcemove.transport.terms import PROOF_TYPE, RELAY_DOMAIN_TYPE, TABLE_TYPE, TableKind
from forcemove.transport.wire import VERSION, FromRelay, ToRelay
from tests.readme.text import DOCS, sections

RELAY, WIRE = DOCS / "protocol" / "relay.md", DOCS / "protocol" / "wire.md"


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table of a section of the relay's page, without its head."""
    (text,) = (each.text for each in sections(RELAY) if each.heading == heading)
    lines = text[text.index("|") :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize(
    ("heading", "messages"), [("Messages to the relay", ToRelay), ("Messages from the relay", FromRelay)]
)
def test_every_message_is_there_with_its_fields(heading: str, messages: Any) -> None:
    shown = [(int(number), name, re.findall(r"`(\w+)`", fields)) for number, name, fields in rows(heading)]

    ours = [(each.__struct_config__.tag, each.__name__, [*each.__struct_fields__]) for each in get_args(messages)]
    assert shown == [(tag, f"`{name}`", fields) for tag, name, fields in ours]


def test_every_reason_is_there() -> None:
    assert [row[0].strip("`") for row in rows("Reasons")] == [each.value for each in Reason]


def test_every_kind_of_table_is_there() -> None:
    assert [int(row[0]) for row in rows("Tables")] == [each.value for each in TableKind]


@pytest.mark.parametrize(
    "type_",
    [TABLE_TYPE, PROOF_TYPE, OFFER_TYPE, JOIN_TYPE, WITHDRAWAL_TYPE, PRESENCE_TYPE],
    ids=lambda type_: type_.partition(b"(")[0].decode(),
)
def test_typed_data_is_what_is_hashed(type_: bytes) -> None:
    assert f"\n    {type_.decode()}\n" in RELAY.read_text("utf-8")


@pytest.mark.parametrize(
    "said",
    [
        f"`{RELAY_DOMAIN_TYPE.decode()}`",
        f"big-endian, which is {VERSION},",
        f"{MAX_FRAME:,} bytes (`MAX_FRAME`)",
        f"{MAX_ENTRY:,} bytes (`MAX_ENTRY`)",
        f"`{LINK_HEAD}`",
    ],
)
def test_numbers_and_names_of_the_relays_page_are_ours(said: str) -> None:
    assert said in " ".join(RELAY.read_text("utf-8").split())


def test_what_is_signed_of_an_action_is_what_is_hashed() -> None:
    text = WIRE.read_text("utf-8")

    assert f"\n    {MESSAGE_TYPE.decode()}\n" in text
    assert f"{MAX_ACTION:,} bytes (`MAX_ACTION`)" in " ".join(text.split())
