"""The shape of what is written: of types and of JSON, as values that are equal where the bytes can be the same."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import UnsetType
from msgspec.inspect import EnumType, Field, StructType, Type, UnionType, multi_type_info

__all__ = ["digest_of", "shape_of", "shape_of_json"]

_KINDS = ((r"0x[0-9a-fA-F]*", "hex"), (r"\d+", "decimal"), (r".*", "text"))


def shape_of(*types: Any) -> Any:
    """Names, tags, types and bounds of all that values of these types are written with. What a class is called in the
    code is not part of it, unless it is the class's tag."""
    return [_shape(each, ()) for each in multi_type_info(types)]


def _shape(what: object, around: tuple[type, ...]) -> Any:
    """`around`: the classes that we are in, since a value may have others of its own class in it."""
    match what:
        case StructType():
            return _struct(what, around)
        case EnumType(cls):
            return sorted([name, member.value] for name, member in cls.__members__.items())
        case UnionType(types):
            return ["any of", *sorted((_shape(each, around) for each in types), key=json.dumps)]
        case Field():
            return [what.encode_name, _shape(what.type, around), what.required]
        case Type():
            parts = [name for name in what.__struct_fields__ if name != "cls"]
            return [type(what).__name__, *(_shape(getattr(what, name), around) for name in parts)]
        case tuple():
            return [_shape(each, around) for each in what]
        case _:
            return what


def _struct(what: StructType, around: tuple[type, ...]) -> Any:
    if what.cls in around:
        return ["as around", around[::-1].index(what.cls)]
    may_lack = [each.encode_name for each in msgspec.structs.fields(what.cls) if UnsetType in get_args(each.type)]
    inside = [_shape(each, (*around, what.cls)) for each in what.fields]
    return ["object", what.tag_field, what.tag, what.array_like, what.forbid_unknown_fields, inside, may_lack]


def shape_of_json(content: object) -> Any:
    """Members and their types. Text is told apart by what it says: hex, a decimal number, or words."""
    match content:
        case dict():
            return {name: shape_of_json(each) for name, each in content.items()}
        case list():
            return ["all", *sorted({json.dumps(shape_of_json(each), sort_keys=True) for each in content})]
        case str():
            return next(kind for pattern, kind in _KINDS if re.fullmatch(pattern, content, re.DOTALL))
        case _:
            return type(content).__name__


def digest_of(shape: Any) -> str:
    """The first eight bytes of a shape's hash, in hex."""
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]
