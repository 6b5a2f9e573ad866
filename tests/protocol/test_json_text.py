"""JSON from strangers neither ends the process nor smuggles anything in."""

from __future__ import annotations

import pytest

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec.json_text import MAX_LENGTH, parse_json
from forcemove.protocol.codec.limits import MAX_DEPTH


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ('{"a": [1, "]}", {"b": true}]}', {"a": [1, "]}", {"b": True}]}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
        ('["' + "[" * 100 + '"]', ["[" * 100]),
        (r'["\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]', ['"' + "[" * 40]),
        ("[" + "[], " * 100 + "[]]", [[]] * 101),
    ],
)
def test_json_is_read(text: str, value: object) -> None:
    read = parse_json(text, "text")

    assert value is None or read == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1, "a": 2}',
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1" * 5_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        '{"a":' * (MAX_DEPTH + 1),
        "[" * 200_000,
        "[" * 40 + '"',
        '"' + " " * MAX_LENGTH + '"',
    ],
    ids=lambda text: text[:20],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(MalformedBytes):
        parse_json(text, "text")
