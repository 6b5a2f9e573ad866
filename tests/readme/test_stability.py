"""The versions that docs/stability.md names are those of the code."""

from __future__ import annotations

import re
import tomllib

import pytest

from forcemove.flow.signed import ENVELOPE_VERSION
from forcemove.protocol.codec import msgpack_codec
from forcemove.protocol.codec.wire import MESSAGE_VERSION
from forcemove.transport import links, offers, wire
from forcemove.watchtower.appointment import APPOINTMENTS
from tests.readme.text import DOCS, ROOT

TEXT = (DOCS / "stability.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("what", "version"),
    [
        ("messages between participants", MESSAGE_VERSION),
        ("signed actions", ENVELOPE_VERSION),
        ("frames of the relay", wire.VERSION),
        ("links", links.LINK_VERSION),
        ("appointments", APPOINTMENTS._version),
        ("receipts", msgpack_codec.VERSION),
        ("offers, joins", offers.OFFER_VERSION),
    ],
)
def test_the_version_of_a_format_is_that_of_the_code(what: str, version: int) -> None:
    (shown,) = re.findall(rf"^\| {what} \| (\d+) ", TEXT, re.MULTILINE)

    assert int(shown) == version


def test_the_page_is_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]

    assert f"This is version {version}." in TEXT
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
