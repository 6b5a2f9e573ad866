"""Patches of views (JSON Patch, RFC 6902): made of the difference of two views, and applied where a view is replayed.

A patch comes from a stranger. It may hold only the operations in `OPERATIONS`: none of them makes more of a view than
the patch itself brings (`copy` could double it again and again). How many there are, how deep and how large the result
may be, is bounded; patches that are made here keep to the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

import jsonpatch

from forcemove_games.views.errors import DisclosureMalformed, NotJson
from forcemove_games.views.faults import MAX_DEPTH, Json, escaped
from forcemove_games.views.values import StrictValue, copy_of, depth_of, strict, text_of

__all__ = ["MAX_OPERATIONS", "MAX_VIEW", "OPERATIONS", "NewInfo", "Patch", "difference", "patched"]

Patch = list[dict[str, Json]]
"""A JSON Patch (RFC 6902)."""
NewInfo = list[Patch]
"""What an action newly shows to one viewer: a patch of its view for each `apply_update`, in order."""
OPERATIONS = frozenset({"add", "remove", "replace", "move"})
"""The operations that a patch may have."""
MAX_OPERATIONS = 1_000
"""Operations that a patch may have."""
MAX_VIEW = 4 * 2**20
"""Bytes of JSON text that a view may have after a patch."""
_FEW = 16
"""Up to this many operations are not counted byte by byte against the view itself."""

# --------------------------------------------------------------------------------------------------------------- making


def difference(before: Json, after: Json) -> Patch:
    """A patch that leads from a strict value to another, and shares nothing with either.

    `after` must be `renewed` of `before`: equal parts are the same objects. A patch with more operations than are
    allowed, or longer than the new value, replaces the whole.
    """
    patch = _changes(before, after, "")
    if len(patch) > _FEW and len(text_of(patch)) > len(text_of(after)):
        patch = _replacing("", after)
    return copy_of(patch)  # type: ignore[no-any-return]  # a list again


def _changes(before: Json, after: Json, path: str) -> Patch:
    if before is after:
        return []
    if type(before) is not type(after) or type(after) not in (dict, list):
        return _replacing(path, after)
    found: Patch = []
    for patch in (_member_changes if type(after) is dict else _element_changes)(before, after, path):
        found += patch
        if len(found) > MAX_OPERATIONS:
            return _replacing(path, after)
    return found


def _replacing(path: str, value: Json) -> Patch:
    return [{"op": "replace", "path": path, "value": value}]


def _member_changes(before: dict[str, Json], after: dict[str, Json], path: str) -> Iterator[Patch]:
    for name in before:
        if name not in after:
            yield [{"op": "remove", "path": f"{path}/{escaped(name)}"}]
    for name, each in after.items():
        if name not in before:
            yield [{"op": "add", "path": f"{path}/{escaped(name)}", "value": each}]
        elif before[name] is not each:
            yield _changes(before[name], each, f"{path}/{escaped(name)}")


def _element_changes(before: list[Json], after: list[Json], path: str) -> Iterator[Patch]:
    """Between the common beginning and the common end of both lists, elements change; then some go or come."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    end_before, end_after = len(before) - tail, len(after) - tail
    for index in range(head, min(end_before, end_after)):
        if before[index] is not after[index]:
            yield _changes(before[index], after[index], f"{path}/{index}")
    for _ in range(end_after, end_before):
        yield [{"op": "remove", "path": f"{path}/{end_after}"}]
    for index in range(end_before, end_after):
        yield [{"op": "add", "path": f"{path}/{index}", "value": after[index]}]


def _common(before: list[Json], after: list[Json]) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((index for index, (old, new) in pairs if old is not new), min(len(before), len(after)))


# ------------------------------------------------------------------------------------------------------------- applying


def patched(view: Json, patch: Patch, index: int) -> StrictValue:
    """The view with a patch, changed in place as far as it stays the same root; where this fails, it may be half done.

    Raises `DisclosureMalformed`; `index`: which entry of `new_info` it is.
    """
    try:
        _require_patch(patch)
        result = jsonpatch.apply_patch(view, patch, in_place=True)
        return _bounded(result, patch)
    except _TooMuch as error:
        raise DisclosureMalformed(index, str(error)) from None
    except _WRONG as error:
        raise DisclosureMalformed(index, f"it does not fit the view: {str(error)[:_MAX_REASON]}") from None


def _require_patch(patch: Patch) -> None:
    if type(patch) is not list or not all(type(each) is dict for each in patch):
        raise _TooMuch("it is not a list of operations")
    if len(patch) > MAX_OPERATIONS:
        raise _TooMuch(f"it has {len(patch)} operations; {MAX_OPERATIONS} are allowed")
    try:
        strict(patch)
    except NotJson as error:
        raise _TooMuch(f"at {error.path[:_MAX_REASON] or 'the root'}: {error.reason}") from None
    for operation in patch:
        _require_operation(operation)


def _require_operation(operation: dict[str, Json]) -> None:
    kind, path = operation.get("op"), operation.get("path")
    if type(kind) is not str or kind not in OPERATIONS:
        raise _TooMuch(f"its operations may be {', '.join(sorted(OPERATIONS))}, not {str(kind)[:_MAX_REASON]}")
    if type(path) is not str or (kind == "move" and type(operation.get("from")) is not str):
        raise _TooMuch("a path is not text")
    if path.count("/") + depth_of(operation.get("value")) > MAX_DEPTH:
        raise _TooMuch(_TOO_DEEP)


def _bounded(result: Json, patch: Patch) -> StrictValue:
    """Check the depth of the result. A value that is added is not too deep for its path; one that is moved may be."""
    if any(operation["op"] == "move" for operation in patch) and depth_of(result) > MAX_DEPTH:
        raise _TooMuch(_TOO_DEEP)
    text = text_of(result)
    if len(text) > MAX_VIEW:
        raise _TooMuch(f"the view would have {len(text)} bytes; {MAX_VIEW} are allowed")
    return StrictValue(result, text)


class _TooMuch(Exception):
    """A patch that is forbidden, whatever the view."""


_TOO_DEEP = f"the view would be deeper than {MAX_DEPTH} levels"
_MAX_REASON = 200
"""Characters of a stranger's text that an error repeats."""
_WRONG = (
    jsonpatch.JsonPatchException,
    jsonpatch.JsonPointerException,
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
)
"""What the library raises on patches that do not fit."""
