"""A version that nobody can forget: what is written in another shape has another version.

An older program refuses another version in words ("update"), but takes another shape for a fault of its counterparty,
or for damage. The versions and the hashes of all shapes are in `versions.json`, which
`python -m tests.structure.formats.test_versions` writes: it refuses to where a version should have been raised.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from tests.structure.formats.found import Format, formats, unknown_codecs
from tests.structure.formats.shapes import digest_of, shape_of, shape_of_json

FILE = Path(__file__).with_name("versions.json")
Written = Mapping[str, list[str]]
"""Of each format its version and the hash of its shape."""
FORMATS = formats()


def written_of(all_formats: Mapping[str, Format]) -> dict[str, list[str]]:
    return {name: [each.version, digest_of(each.shape)] for name, each in sorted(all_formats.items())}


def forgotten(all_formats: Mapping[str, Format], written: Written) -> Iterator[str]:
    """What has another shape than was written, and the same version."""
    for name, now in written_of(all_formats).items():
        before = written.get(name, now)
        if now != before and now[0] == before[0]:
            yield f"the shape of {name} has changed: raise its version ({all_formats[name].place})"


def complaints(all_formats: Mapping[str, Format], written: Written) -> list[str]:
    """What is to be done, in the order in which it is to be done."""
    first = list(forgotten(all_formats, written))
    again = written_of(all_formats) != written
    return first + (["then run python -m tests.structure.formats.test_versions"] if again else [])


def test_what_is_written_in_another_shape_has_another_version() -> None:
    found = complaints(FORMATS, json.loads(FILE.read_text("utf-8")))

    assert not found, "; ".join(found)


def test_every_format_is_among_them() -> None:
    assert unknown_codecs() == set()


@pytest.mark.parametrize("name", FORMATS)
def test_another_shape_with_the_same_version_is_a_complaint(name: str) -> None:
    written, now = written_of(FORMATS), FORMATS[name]
    changed = FORMATS | {name: replace(now, shape=[now.shape, "more"])}
    raised = FORMATS | {name: replace(now, shape=[now.shape, "more"], version="1,000")}

    assert [name in each and now.place in each for each in complaints(changed, written)] == [True, False]
    assert len(complaints(raised, written)) == 1
    assert complaints(raised, written_of(raised)) == []


def test_a_new_format_and_one_that_is_gone_are_written_down() -> None:
    written = written_of(FORMATS)
    new = {"new": Format("1", "nowhere", "anything")}

    assert len(complaints(FORMATS | new, written)) == 1
    assert len(complaints(FORMATS, written | written_of(new))) == 1


# -------------------------------------------------------------------------------------------------------------- shapes


class Colour(Enum):
    RED = "red"


class MoreColours(Enum):
    RED = "red"
    BLUE = "blue"


class Inner(Struct):
    number: int


class Nested(Struct):
    nested: Nested | None


def struct(*fields: Any, **options: Any) -> Any:
    return defstruct("Any", fields, **options)


NUMBER = ("a", int)
CHANGES: dict[str, tuple[Any, Any]] = {
    "a field more": (struct(NUMBER), struct(NUMBER, ("b", int))),
    "a field that may lack": (struct(NUMBER), struct(NUMBER, ("b", int | UnsetType, UNSET))),
    "it may lack now": (struct(("a", int, 0)), struct(("a", int | UnsetType, UNSET))),
    "a default": (struct(NUMBER), struct(("a", int, 0))),
    "another name": (struct(NUMBER), struct(("b", int))),
    "a name for it": (struct(NUMBER), struct(NUMBER, rename={"a": "b"})),
    "another order": (struct(NUMBER, ("b", int), array_like=True), struct(("b", int), NUMBER, array_like=True)),
    "another type": (struct(NUMBER), struct(("a", str))),
    "another bound": (struct(NUMBER), struct(("a", Annotated[int, Meta(le=5)]))),
    "nothing as well": (struct(NUMBER), struct(("a", int | None))),
    "another tag": (struct(NUMBER, tag="A"), struct(NUMBER, tag="B")),
    "another name of the tag": (struct(tag="A", tag_field="kind"), struct(tag="A", tag_field="type")),
    "an array": (struct(NUMBER), struct(NUMBER, array_like=True)),
    "nothing unknown": (struct(NUMBER), struct(NUMBER, forbid_unknown_fields=True)),
    "a value more": (struct(("a", Colour)), struct(("a", MoreColours))),
    "in a field": (struct(("a", Inner)), struct(("a", struct(("number", str))))),
    "in a tuple": (struct(("a", tuple[Inner, ...])), struct(("a", tuple[str, ...]))),
    "one more of a union": (struct(tag="A") | struct(tag="B"), struct(tag="A") | struct(tag="B") | struct(tag="C")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_shape_has_another_hash(change: str) -> None:
    before, after = CHANGES[change]

    assert digest_of(shape_of(before)) != digest_of(shape_of(after))


def test_what_a_class_is_called_is_no_part_of_its_shape() -> None:
    class Other(Struct):
        number: int

    assert shape_of(Inner) == shape_of(Other)
    assert digest_of(shape_of(Nested))


@pytest.mark.parametrize(
    "other", [{"a": "0x01"}, {"a": 5}, {"a": None}, {"a": "no"}, {"a": "5", "b": "5"}, {"a": ["5"]}]
)
def test_other_json_has_another_hash(other: object) -> None:
    assert digest_of(shape_of_json({"a": "5"})) == digest_of(shape_of_json({"a": "77"}))
    assert digest_of(shape_of_json({"a": "5"})) != digest_of(shape_of_json(other))


def _write() -> int:
    first = list(forgotten(FORMATS, json.loads(FILE.read_text("utf-8"))))
    if first:
        print(*first, sep="\n", file=sys.stderr)
        return 1
    lines = (f" {json.dumps(name)}: {json.dumps(each)}" for name, each in written_of(FORMATS).items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(_write())
