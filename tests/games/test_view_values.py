"""Values of views: that only JSON's own types pass, that text gives them back, and what a new value keeps of an old."""

from __future__ import annotations

import inspect
import json
import sys
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forcemove_games.views import NotJson, apply_update, filter_state, play_action, replay_action
from forcemove_games.views.faults import MAX_DEPTH
from forcemove_games.views.patches import difference
from forcemove_games.views.values import is_same, renewed, strict, unshare


class Number(IntEnum):
    ONE = 1


class Name(StrEnum):
    A = "a"


class Listed(list[int]):
    pass


class Int(int):
    pass


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(),
    st.integers(-(2**300), 2**300),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1e300, 5e-324, 2.0**63]),
    st.text(),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=40), st.dictionaries(st.text(max_size=3), inner, max_size=5)),
    max_leaves=60,
)


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(values)
def test_a_value_comes_back_from_text_as_it_is(value: Any) -> None:
    known, copy = strict(value)
    assert known.value is value
    assert text(copy) == text(known.copy()) == text(value)


@pytest.mark.parametrize(
    ("value", "path", "before"),
    [
        (Number.ONE, "", 1),
        ([Name.A], "/0", ["a"]),
        ({"a": [Listed([1])]}, "/a/0", {"a": [[1]]}),
        ({"a": OrderedDict(b=1)}, "/a", {"a": {"b": 1}}),
        ({Name.A: 1}, "", {"a": 1}),
        ({True: 1}, "", {"true": 1}),
        ({None: 1}, "", {"null": 1}),
        ([Int(5)], "/0", [5]),
        ({"a": ()}, "/a", {"a": []}),
        ({"a": frozenset()}, "/a", {"a": []}),
        ({"a": 1j}, "/a", {"a": 1}),
        ({"a": ...}, "/a", {"a": None}),
        ({"a": bytearray(b"a")}, "/a", {"a": "YQ=="}),
        ([10**4_300], "/0", [0]),
        ({"a": {"b": -(10**5_000)}}, "/a/b", {"a": {}}),
        ({"a/b": {"~": object()}}, "/a~1b/~0", {}),
    ],
)
def test_what_only_looks_like_json_is_refused_with_its_path(value: Any, path: str, before: Any) -> None:
    """Also where it equals what was there before: as when a game puts a member of an IntEnum in the place of 1."""
    game = type("Game", (), {"update_state": lambda _s, _state, _action: value})()
    for attempt in (
        lambda: strict(value),
        lambda: renewed(strict(before)[0], value),
        lambda: play_action(game, before, 0),
    ):
        with pytest.raises(NotJson) as refused:
            attempt()
        assert refused.value.path == path


def test_a_member_of_an_enum_is_refused_by_playing_replaying_and_filtering() -> None:
    def set_phase(_self: Any, state: Any, _action: Any) -> None:
        state["phase"] = Number.ONE

    def show_phase(_self: Any, _state: Any) -> Any:
        return lambda state: state.update(phase=Number.ONE)

    state = {"phase": 1}
    playing, filtering = (type("Game", (), {"update_state": set_phase})(), type("Game", (), {"filters": show_phase})())
    with pytest.raises(NotJson):
        play_action(playing, state, 0)
    with pytest.raises(NotJson):
        replay_action(playing, state, 0)
    with pytest.raises(NotJson):
        filter_state(filtering, state)


def nested(depth: int, innermost: Any = 1) -> Any:
    value = innermost
    for index in range(depth):
        value = [value] if index % 2 else {"a": value}
    return value


def test_values_are_as_deep_as_may_be_and_no_deeper() -> None:
    known, _ = strict(nested(MAX_DEPTH))
    assert renewed(known, nested(MAX_DEPTH)) is known
    assert renewed(known, nested(MAX_DEPTH, 2)).value == nested(MAX_DEPTH, 2)
    for value in (nested(MAX_DEPTH + 1), nested(5_000)):
        with pytest.raises(NotJson, match="deeper than 200"):
            strict(value)
        with pytest.raises(NotJson, match="deeper than 200"):
            renewed(known, value)


def test_deep_values_leave_room_on_the_stack() -> None:
    """Three frames a level at most: the caller may be deep in calls of its own."""
    known, other = strict(nested(MAX_DEPTH))[0], nested(MAX_DEPTH, 2)
    limit, frames = sys.getrecursionlimit(), len(inspect.stack(0))
    sys.setrecursionlimit(frames + 3 * MAX_DEPTH)
    try:
        assert len(difference(known.value, renewed(known, other).value)) == 1
        assert strict(other)[1] == other
    finally:
        sys.setrecursionlimit(limit)


def test_what_holds_itself_twice_is_refused_at_once() -> None:
    endless: list[Any] = []
    endless += [endless, {"a": endless}]
    for attempt in (lambda: strict(endless), lambda: renewed(strict([1, 2])[0], endless)):
        with pytest.raises(NotJson):
            attempt()


def objects(value: Any) -> list[int]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [id(value), *(each for one in inner for each in objects(one))] if isinstance(value, dict | list) else []


@given(values, values)
@example([1, [True]], [1, [1]])
@example([0, [True]], [1, [1]])
@example([0.0] * 40, [-0.0] * 40)
@example({"a": [], "b": {}}, {"b": {}, "a": []})
def test_a_renewed_value_is_the_new_one_and_shares_nothing_with_it(old: Any, new: Any) -> None:
    known, _ = strict(old)
    result = renewed(known, new)
    assert text(result.value) == text(new)
    assert json.loads(result.text) == new
    assert (result is known) is (text(old) == text(new)) is is_same(known, new)
    assert not {*objects(result.value)} & {*objects(new)}
    assert len({*objects(result.value)}) == len(objects(result.value))


@given(st.lists(values, max_size=70), st.integers(0, 70), st.integers(0, 3), st.lists(values, max_size=3))
def test_what_stands_around_a_change_in_a_list_is_the_same_object(
    old: Any, start: int, length: int, inserted: Any
) -> None:
    old = [[index, each] for index, each in enumerate(old)]  # no two are equal, nor is what is inserted
    new = [*old[:start], *({"new": each} for each in inserted), *old[start + length :]]
    result = renewed(strict(old)[0], json.loads(json.dumps(new))).value
    for index in range(min(start, len(old))):
        assert result[index] is old[index]
    for index in range(1, len(old[start + length :]) + 1):
        assert result[-index] is old[-index]


@given(values)
def test_what_is_changed_deep_inside_leaves_all_else_alone(value: Any) -> None:
    old: Any = {"kept": [value], "deep": {"changed": [[value, 1], {"kept": [value]}]}}
    new = json.loads(json.dumps(old))
    new["deep"]["changed"][0][1] = True
    result = renewed(strict(old)[0], new).value
    assert result["kept"] is old["kept"]
    assert result["deep"]["changed"][1] is old["deep"]["changed"][1]
    assert result["deep"]["changed"][0][1] is True


@given(values)
def test_what_is_unshared_is_the_same_and_a_tree(value: Any) -> None:
    holder = {"first": value, "second": value, "third": [value]}
    before = text(holder)
    unshare(holder)
    assert text(holder) == before
    assert len({*objects(holder)}) == len(objects(holder))


def test_a_list_in_many_places_is_played_and_replayed_as_many() -> None:
    def update(_self: Any, state: Any, _action: Any) -> None:
        state["previous"] = state["board"]
        apply_update(state, lambda draft: draft["board"].append(1))
        state["board"].append(2)

    game, state = type("Game", (), {"update_state": update})(), {"previous": [0], "board": [0]}
    played = play_action(game, state, 0)
    assert played.state == {"previous": [0], "board": [0, 1, 2]}
    assert replay_action(game, state, 0, played.new_info) == played.state
