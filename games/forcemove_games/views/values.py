"""JSON values: whether they are strict, whether two are the same, copies, and parts that a new value shares with an old
one.

A value is never walked element by element where C can do it at once. It is strict when it is made of the very types of
JSON and comes back from JSON text as it was; only where it is not, a walk looks for the place. A value that follows an
old one, which is known to be strict, is checked where it differs, and nowhere else.
"""

from __future__ import annotations

import gc
import marshal
from collections.abc import Callable, Iterable
from itertools import takewhile
from operator import eq, is_
from typing import NamedTuple

import msgspec

from forcemove_games.views.errors import NotJson
from forcemove_games.views.faults import MAX_DEPTH, Json, fault

__all__ = [
    "UNWRITABLE",
    "StrictValue",
    "copy_of",
    "depth_of",
    "is_same",
    "json_of",
    "renewed",
    "strict",
    "taken",
    "text_of",
    "unshare",
]

_WHOLE_LEVELS = 8
"""So many levels of two values are compared as a whole first. Further down only element by element: else each level
would compare the levels below it again, and depth would multiply the cost."""
_ENCODER, _DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()
_BLOCK = 32
"""So many elements of a list are compared at once, before each of them is."""
_NESTING = frozenset({dict, list})
UNWRITABLE = (TypeError, ValueError, RecursionError, msgspec.MsgspecError)
"""What is raised on values that JSON text cannot express."""


class StrictValue(NamedTuple):
    """A value that is known to be strict, with its text."""

    value: Json
    text: bytes

    def copy(self) -> Json:
        """A copy of the value, which shares nothing with it."""
        return json_of(self.text)

    def again(self) -> StrictValue:
        """The same value as a copy that may be changed."""
        return StrictValue(self.copy(), self.text)


def json_of(text: bytes) -> Json:
    """The value of a JSON text that we have written."""
    return _DECODER.decode(text)


def text_of(value: Json) -> bytes:
    """The JSON text of a strict value; dictionaries keep their order."""
    return _ENCODER.encode(value)


def copy_of(value: Json) -> Json:
    """A copy of a strict value, which shares nothing with it."""
    return _DECODER.decode(_ENCODER.encode(value))


def strict(value: Json) -> tuple[StrictValue, Json]:
    """The value as it is, known to be strict, and a copy. Raises `NotJson` on a value that would not come back from
    JSON text as it is, and on one that is too deep."""
    copy, text = taken(value)
    if depth_of(copy) > MAX_DEPTH:
        raise fault(value)
    return StrictValue(value, text), copy


def taken(value: Json, *, is_exact: bool = True) -> StrictValue:
    """A copy, known to be strict but for its depth; `is_exact` as for `renewed`. Raises `NotJson`."""
    try:
        if is_exact:
            _require_exact(value)
        text = _ENCODER.encode(value)
        copy = _DECODER.decode(text)
        if copy == value:
            return StrictValue(copy, text)
    except UNWRITABLE:
        pass
    raise fault(value)


def is_same(known: StrictValue, other: Json) -> bool:
    """Whether both are the same JSON: True, 1 and 1.0 are three values; the order of a dictionary does not count."""
    try:
        return renewed(known, other, is_exact=False) is known
    except NotJson:
        return False


def renewed(old: StrictValue, new: Json, *, is_exact: bool = True) -> StrictValue:
    """The new value, with objects of the old one wherever the two are the same, and with copies elsewhere; the old one
    itself if all of it is the same. Raises `NotJson`.

    `is_exact`: refuse also values that only equal a strict value (a member of an IntEnum, say), though they would not
    be kept.
    """
    try:
        if is_exact:
            _require_exact(new)
        return _renewed_known(old, new, text_of(new))
    except UNWRITABLE:
        raise fault(new) from None


def _renewed_known(old: StrictValue, new: Json, text: bytes) -> StrictValue:
    """The new value, checked by its text, which shows whether True, 1 and 1.0 were taken for one another. Only then,
    and where the order differs, is each part compared as text."""
    if old.value == new:
        if old.text == text:
            return old
    else:
        value = _renewed(old.value, new, 0, eq)
        if text_of(value) == text:
            return StrictValue(value, text)
    value = _renewed(old.value, new, 0, _is_same_text)
    return old if value is old.value else StrictValue(value, text_of(value))


_Same = Callable[[Json, Json], bool]
"""Compares two lists or dictionaries as a whole."""


def _is_same_text(old: Json, new: Json) -> bool:
    return bool(old == new) and text_of(old) == text_of(new)


def _renewed(old: Json, new: Json, depth: int, is_same_whole: _Same) -> Json:
    """The new value with objects of the old one. `depth`: of how many lists and dictionaries it is a part."""
    kind = type(new)
    if depth == _WHOLE_LEVELS or kind is not type(old) or kind not in _NESTING:
        return _renewed_each(old, new, depth)
    if is_same_whole(old, new):
        return old
    if kind is dict:
        return _kept(old, {name: _member(old, name, each, depth, is_same_whole) for name, each in new.items()})
    return _kept(old, _elements(old, new, depth, is_same_whole))


def _renewed_each(old: Json, new: Json, depth: int) -> Json:
    """The same without comparing more than one element at once. Two frames a level: there may be 200 levels."""
    kind = type(new)
    if kind is not type(old) or kind not in _NESTING:
        return old if _is_same_simple(old, new) else _fresh(new, depth)
    if kind is dict:
        return _kept(
            old,
            {
                name: _renewed_each(old[name], each, depth + 1) if name in old else _fresh({name: each}, depth)[name]
                for name, each in new.items()
            },
        )
    renewed_ones = [_renewed_each(*pair, depth + 1) for pair in zip(old, new, strict=False)]
    return _kept(old, renewed_ones + [_fresh(each, depth + 1) for each in new[len(old) :]])


def _kept(old: Json, made: Json) -> Json:
    """The old list or dictionary, where the new one is made of the same objects."""
    if len(made) != len(old):
        return made
    if type(made) is list:
        return old if all(map(is_, made, old)) else made
    return old if all(name in old and each is old[name] for name, each in made.items()) else made


def _member(old: dict[str, Json], name: str, each: Json, depth: int, is_same_whole: _Same) -> Json:
    if name in old:
        return _renewed(old[name], each, depth + 1, is_same_whole)
    return _fresh({name: each}, depth)[name]


def _elements(old: list[Json], new: list[Json], depth: int, is_same_whole: _Same) -> list[Json]:
    """The elements of a list: the common beginning and the common end of both lists stay the same objects, wherever in
    between an element was added or removed."""
    head = tail = 0
    if len(old) != len(new):
        head = _common(old, new, is_same_whole)
        tail = _common(reversed(old[head:]), reversed(new[head:]), is_same_whole)
    between, changed = old[head : len(old) - tail], new[head : len(new) - tail]
    made = old[:head]
    for start in range(0, min(len(between), len(changed)), _BLOCK):
        block = slice(start, start + _BLOCK)
        made += _block(between[block], changed[block], depth + 1, is_same_whole)
    return [*made, *(_fresh(each, depth + 1) for each in changed[len(between) :]), *old[len(old) - tail :]]


def _block(old: list[Json], new: list[Json], depth: int, is_same_whole: _Same) -> list[Json]:
    """Elements at the same index in both; at the end, one list may have more than the other."""
    if is_same_whole(old, new):
        return old
    return [_renewed(*pair, depth, is_same_whole) for pair in zip(old, new, strict=False)]


def _common(old: Iterable[Json], new: Iterable[Json], is_same_whole: _Same) -> int:
    """The number of equal elements with which both lists begin."""
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _is_same_element(*pair, is_same_whole), pairs))


def _is_same_element(old: Json, new: Json, is_same_whole: _Same) -> bool:
    return is_same_whole(old, new) if type(new) in _NESTING else _is_same_simple(old, new)


def _is_same_simple(old: Json, new: Json) -> bool:
    return type(old) is type(new) and bool(old == new) and (type(new) is not float or repr(old) == repr(new))


def _fresh(value: Json, depth: int) -> Json:
    """A copy of a value that is strict. Raises ValueError and its like."""
    _require_exact(value)
    copy = copy_of(value)
    if copy != value or depth + depth_of(copy) > MAX_DEPTH:
        raise ValueError
    return copy


def _require_exact(value: Json) -> None:
    """Raise ValueError where a part of the value has a type of its own, even one derived from those of JSON: marshal
    writes Python's own types and no other. Of these, tuples, sets and bytes do not come back from JSON text."""
    marshal.dumps(value)


# ------------------------------------------------------------------------------------------------------ trees of values


def depth_of(value: Json) -> int:
    """How many lists and dictionaries are inside each other, up to one more than allowed."""
    depth, level = 0, [value] if type(value) in _NESTING else []
    while level and depth <= MAX_DEPTH:
        depth, level = depth + 1, _nested(level)
    return depth


def unshare(value: Json, *, within: Json = None) -> None:
    """Copy objects that are in two places of a value, and `within`, of which the value will be a part, where it is in
    the value: JSON has equal values, but no shared ones. If a game put one list in two places, a patch for both would
    change it twice."""
    if not _is_tree(value, within):
        _unshare(value, {id(value), id(within)})


def _is_tree(value: Json, within: Json) -> bool:
    level, seen = [value], {id(value), id(within)}
    while level:
        level = _nested(level)
        count = len(seen) + len(level)
        seen.update(map(id, level))
        if len(seen) < count:
            return False
    return True


def _nested(values: list[Json]) -> list[Json]:
    """The lists and dictionaries that are elements of these lists and dictionaries. C finds them: in Python, this would
    be half of what views cost."""
    return [each for each in gc.get_referents(*values) if type(each) in _NESTING]


def _unshare(value: Json, seen: set[int]) -> None:
    for name, each in value.items() if type(value) is dict else enumerate(value):
        if type(each) not in _NESTING:
            continue
        if id(each) in seen:
            value[name] = copy_of(each)
        else:
            seen.add(id(each))
            _unshare(each, seen)
