"""Patches of views: what a stranger's patch may do and what it may cost, and that ours keep to the same bounds."""

from __future__ import annotations

import copy
import json
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import jsonpatch
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forcemove_games.views import DisclosureMalformed, NotJson, apply_update, filter_state, play_action, replay_action
from forcemove_games.views.faults import MAX_DEPTH
from forcemove_games.views.patches import MAX_OPERATIONS, MAX_VIEW, OPERATIONS, difference
from forcemove_games.views.values import renewed, strict

LARGEST = 65_536
"""Bytes of a message."""


class Shows:
    """A game in which each action is one update, which makes the action the state."""

    def update_state(self, state: Any, action: Any) -> Any:
        return apply_update(state, lambda _: action)


def replayed(view: Any, patch: Any) -> Any:
    return replay_action(Shows(), view, 0, [patch])


def difference_of(before: Any, after: Any) -> Any:
    known, _ = strict(before)
    return difference(before, renewed(known, after).value)


def cost(function: Callable[[], object]) -> tuple[int, int]:
    """How many functions are called meanwhile, Python's and C's, and how many bytes are held at most. Both are the same
    on a busy machine."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    tracemalloc.start()
    try:
        function()
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def tried(view: Any, patch: Any) -> Callable[[], object]:
    def attempt() -> None:
        before = json.dumps(view)
        try:
            replayed(view, patch)
        except DisclosureMalformed:
            assert json.dumps(view) == before

    return attempt


# ----------------------------------------------------------------------------------------------- what may be in a patch


def doubling(times: int) -> Any:
    """Each operation copies all that there is: a view of 1 MB after 20, of 1 GB after 30."""
    return [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(times)]


def test_a_patch_does_not_copy() -> None:
    """22 copies in 990 bytes took 44 seconds and 1 GB."""
    patch = doubling(22)
    assert len(json.dumps(patch)) < 1_000
    with pytest.raises(DisclosureMalformed, match="add, move, remove, replace"):
        replayed({"a": 1}, patch)
    calls, held = cost(tried({"a": 1}, patch))
    assert calls < 2_000
    assert held < 100_000


@pytest.mark.parametrize("operation", ["copy", "test", "append", "invent", "", None, 5, [], {}])
def test_only_four_operations_may_be(operation: Any) -> None:
    with pytest.raises(DisclosureMalformed, match="add, move, remove, replace"):
        replayed({"a": 1}, [{"op": operation, "from": "/a", "path": "/a", "value": 1}])


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        ([{"op": "add", "path": "/b", "value": 1}], {"a": [1, 2], "b": 1}),
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3]}),
        ([{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ([{"op": "replace", "path": "", "value": [5]}], [5]),
        ([{"op": "move", "from": "/a/0", "path": "/b"}], {"a": [2], "b": 1}),
        ([{"op": "move", "from": "/a", "path": ""}], [1, 2]),
    ],
)
def test_and_they_do_what_the_standard_says(patch: Any, result: Any) -> None:
    assert replayed({"a": [1, 2]}, patch) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/list/99999999999", "value": 1},
        {"op": "replace", "path": "/list/99999999999", "value": 1},
        {"op": "remove", "path": "/list/99999999999"},
        {"op": "remove", "path": "/list/" + "9" * 30},
        {"op": "add", "path": "/list/" + "9" * 5_000, "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "replace", "path": "/list/00", "value": 1},
        {"op": "remove", "path": "/list/-1"},
        {"op": "remove", "path": "/list/+1"},
        {"op": "remove", "path": "/list/1_0"},
        {"op": "remove", "path": "/list/\u0661"},
        {"op": "remove", "path": "/list/0\n"},
        {"op": "remove", "path": "/list/"},
        {"op": "remove", "path": "/list/-"},
        {"op": "replace", "path": "/list/-", "value": 1},
        {"op": "add", "path": "/list/-/a", "value": 1},
        {"op": "move", "from": "/list/-", "path": "/a"},
        {"op": "move", "from": "/list", "path": "/list/0"},
        {"op": "move", "from": "/list/0", "path": "/list/0/a"},
        {"op": "move", "from": "", "path": "/a"},
        {"op": "move", "from": "/none", "path": "/a"},
        {"op": "move", "path": "/a"},
        {"op": "move", "from": 5, "path": "/a"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/" + "x" * 60_000},
        {"op": "remove", "path": "/text/0"},
        {"op": "add", "path": "/text/0", "value": 1},
        {"op": "add", "path": "/~2", "value": 1},
        {"op": "add", "path": "list", "value": 1},
        {"op": "add", "path": ["list"], "value": 1},
        {"op": "add", "path": "/a" * 30_000, "value": 1},
        {"op": "add", "path": "/a", "value": 10**4_300},
        {"op": "add", "path": "/a", "value": -(10**5_000)},
        {"op": "add", "path": "/a", "value": "\ud800"},
        {"op": "add", "path": "/a", "value": {"x" * 5_000: 10**5_000}},
        {"op": "add", "\ud800": 1, "path": "/a", "value": 1},
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(operation: Any) -> None:
    view = {"list": [{"in": 1}, 2], "text": "text"}
    before = copy.deepcopy(view)
    with pytest.raises(DisclosureMalformed) as refused:
        replayed(view, [{"op": "remove", "path": "/list/1"}, operation])
    assert refused.value.index == 0
    assert len(refused.value.reason) < 300
    assert view == before


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_put_in_is_not_too_deep_for_its_place() -> None:
    view = {"a": nested(100)}
    path = "/a" + "/0" * 99 + "/0"
    assert replayed(view, [{"op": "replace", "path": path, "value": nested(MAX_DEPTH - 101)}])
    with pytest.raises(DisclosureMalformed, match="deeper"):
        replayed(view, [{"op": "replace", "path": path, "value": nested(MAX_DEPTH - 100)}])
    with pytest.raises(DisclosureMalformed, match="deeper"):
        replayed(view, [{"op": "replace", "path": "", "value": nested(MAX_DEPTH + 1)}])


def test_what_is_moved_is_not_too_deep_for_its_place() -> None:
    patch = [{"op": "move", "from": "/a", "path": "/b" + "/0" * 99}]
    assert replayed({"a": nested(MAX_DEPTH - 100), "b": nested(100)}, patch)
    with pytest.raises(DisclosureMalformed, match="deeper"):
        replayed({"a": nested(MAX_DEPTH - 99), "b": nested(100)}, patch)


def test_there_are_not_too_many_operations() -> None:
    patch = [{"op": "add", "path": "/-", "value": 1}] * MAX_OPERATIONS
    assert len(replayed([], patch)) == MAX_OPERATIONS
    with pytest.raises(DisclosureMalformed, match="1001 operations; 1000 are allowed"):
        replayed([], [*patch, *patch[:1]])


def test_a_view_does_not_grow_without_end() -> None:
    view = ["x" * (MAX_VIEW - 20)]
    assert replayed(view, [{"op": "add", "path": "/-", "value": "y" * 10}])
    with pytest.raises(DisclosureMalformed, match=f"{MAX_VIEW} are allowed"):
        replayed(view, [{"op": "add", "path": "/-", "value": "y" * 20}])


pointers = st.lists(st.sampled_from(["a", "b", "0", "1", "2", "01", "-", "", "~0", "99999999999"]), max_size=4).map(
    lambda steps: "".join("/" + step for step in steps)
)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from([*sorted(OPERATIONS)] * 4 + ["copy"]), "path": pointers},
    optional={"value": st.recursive(st.sampled_from([1, True, "text", None]), st.lists), "from": pointers},
)
views = st.recursive(
    st.sampled_from([1, "text", None]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab01"), inner, max_size=3)),
    max_leaves=12,
)


@given(views, st.lists(operations, max_size=4))
def test_whatever_a_patch_does_there_is_a_view_or_a_typed_error(view: Any, patch: Any) -> None:
    before = json.dumps(view)
    try:
        result = replayed(view, patch)
    except DisclosureMalformed:
        assert json.dumps(view) == before
        return
    assert json.dumps(view) == before
    expected = jsonpatch.apply_patch(view, patch)
    assert json.dumps(result) == json.dumps(expected)


# ---------------------------------------------------------------------------------------------------- what one may cost


def filled(operation: Callable[[int], Any]) -> Any:
    """As many of them as a message holds, and a patch may have."""
    patch: list[Any] = []
    size = 2
    while len(patch) < MAX_OPERATIONS and (size := size + len(json.dumps(operation(len(patch)))) + 2) < LARGEST:
        patch.append(operation(len(patch)))
    return patch


LONG = list(range(10_000))
WORST: dict[str, tuple[Any, Any]] = {
    "adds at the head": (LONG, filled(lambda _: {"op": "add", "path": "/0", "value": 1})),
    "removes at the head": (LONG, filled(lambda _: {"op": "remove", "path": "/0"})),
    "moves from the tail to the head": (LONG, filled(lambda _: {"op": "move", "from": "/9999", "path": "/0"})),
    "moves of everything": (
        {"a": {"b": LONG}},
        filled(lambda n: {"op": "move", "from": "/a" if n % 2 == 0 else "/b", "path": "/b" if n % 2 == 0 else "/a"}),
    ),
    "moves that nest": (
        {str(n): {} for n in range(1_000)},
        filled(lambda n: {"op": "move", "from": f"/{n}", "path": f"/{n + 1}/{n}"}),
    ),
    "deep paths": ({"a": nested(199)}, filled(lambda _: {"op": "replace", "path": "/a" + "/0" * 198, "value": 1})),
    "one long path": ({}, [{"op": "add", "path": "/" * 65_000, "value": 1}]),
    "many escapes": ({}, [{"op": "add", "path": "/" + "~0" * 32_000, "value": 1}]),
    "a wide value": ({}, [{"op": "add", "path": "/a", "value": [[]] * 16_000}]),
    "a value of numbers": ({}, [{"op": "add", "path": "/a", "value": [1] * 21_000}]),
    "large numbers": ({}, [{"op": "add", "path": "/a", "value": [10**4_299] * 15}]),
    "replaces of all": (LONG, filled(lambda n: {"op": "replace", "path": "", "value": [n]})),
    "a deep value": ({}, [{"op": "add", "path": "/a", "value": nested(900)}]),
    "unknown members": ({}, [{"op": "add", "path": "/a", "value": 1, **{str(n): n for n in range(4_000)}}]),
}


@pytest.mark.parametrize(("view", "patch"), WORST.values(), ids=WORST.keys())
def test_the_worst_patches_cost_little(view: Any, patch: Any) -> None:
    """Measured in calls and bytes held: this many for each operation, and this many for each byte of patch and view."""
    size = len(json.dumps(patch)) + len(json.dumps(view))
    calls, held = cost(tried(view, patch))
    assert calls < 20_000 + 12 * size + 400 * len(patch)
    assert held < 1_000_000 + 60 * size


# -------------------------------------------------------------------------------------------------------- those we make

names = st.text("ab/~0", max_size=2)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 2), st.sampled_from([0.0, -0.0, 1.0]), st.text("x", max_size=1)
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(names, inner, max_size=4)),
    max_leaves=24,
)


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(values, values)
@example([True, [1]], [1, [True]])
@example([0, [1]], [1, [True]])
@example([0.0], [-0.0])
@example([1, 2, 3, 4], [2, 3, 4])
@example({"a": [1] * 40}, {"a": [2] * 40})
def test_a_difference_leads_from_one_view_to_the_other(before: Any, after: Any) -> None:
    """Another implementation of the standard gets there, too."""
    patch = difference_of(before, copy.deepcopy(after))
    assert {operation["op"] for operation in patch} <= OPERATIONS
    assert (patch == []) is (text(before) == text(after))
    assert text(jsonpatch.apply_patch(before, patch)) == text(after)
    assert text(replayed(before, patch)) == text(after)


def objects(value: Any) -> set[int]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {id(value) for _ in [0] if isinstance(value, dict | list)}.union(*map(objects, inner))


@given(values, values)
@example({}, {"a": [1]})
def test_a_difference_shares_nothing(before: Any, after: Any) -> None:
    renewed_after = renewed(strict(before)[0], after).value
    patch = difference(before, renewed_after)
    assert not objects(patch) & (objects(before) | objects(after) | objects(renewed_after))


def test_a_difference_is_no_longer_than_the_view() -> None:
    before, after = {"a": [1] * 500, "b": [5]}, {"a": [2] * 500, "b": [5]}
    assert difference_of(before, after) == [{"op": "replace", "path": "", "value": after}]


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ([1, 2, 3, 4], [2, 3, 4], [{"op": "remove", "path": "/0"}]),
        ([1, 2, 4], [1, 2, 3, 4], [{"op": "add", "path": "/2", "value": 3}]),
        ([1, 2, 3], [1, 5, 3], [{"op": "replace", "path": "/1", "value": 5}]),
        ([[1], [2]], [[1], [2], [3]], [{"op": "add", "path": "/2", "value": [3]}]),
        ({"a": 1, "b/~": 2}, {"a": 1}, [{"op": "remove", "path": "/b~1~0"}]),
        ({"a": {"b": [1]}}, {"a": {"b": [True]}}, [{"op": "replace", "path": "/a/b/0", "value": True}]),
        ([1], {"a": 1}, [{"op": "replace", "path": "", "value": {"a": 1}}]),
    ],
)
def test_a_difference_is_short(before: Any, after: Any, patch: Any) -> None:
    assert difference_of(before, after) == patch


def shifted(length: int) -> tuple[Any, Any]:
    return list(range(length)), list(range(7, length + 7))


def reversed_(length: int) -> tuple[Any, Any]:
    return list(range(length)), list(range(length))[::-1]


def every_second(length: int) -> tuple[Any, Any]:
    return list(range(length)), list(range(0, length, 2))


def beneath_a_long_name(length: int) -> tuple[Any, Any]:
    return {"n" * length: [0] * length}, {"n" * length: [1] * length}


def other_types(length: int) -> tuple[Any, Any]:
    return [1] * length, [True] * length


def deep_and_wide(length: int) -> tuple[Any, Any]:
    """A comparison of all that is below, at each level, would compare it 190 times."""
    before, after = [*range(length), 1], [*range(length), True]
    for _ in range(190):
        before, after = [before], [after]
    return before, after


@pytest.mark.parametrize("views", [shifted, reversed_, every_second, beneath_a_long_name, other_types, deep_and_wide])
def test_making_a_difference_costs_no_more_than_in_proportion(views: Callable[[int], tuple[Any, Any]]) -> None:
    """Eight times as long lists, about eight times the cost; and the patch is bounded, as those that come are."""
    costs = []
    for length in (2_500, 20_000):
        before, after = views(length)
        patch = difference_of(before, after)
        assert text(replayed(before, patch)) == text(after)
        assert len(patch) <= MAX_OPERATIONS
        assert len(json.dumps(patch)) < len(json.dumps(after)) + 1_000
        costs.append(cost(lambda before=before, after=after: difference_of(before, after)))  # type: ignore[misc]
    (calls, held), (more_calls, more_held) = costs
    assert more_calls < 10 * calls + 10_000
    assert more_held < 10 * held + 1_000_000


def test_a_game_whose_view_is_replaced_goes_on() -> None:
    """More differences than operations may be: the whole list is shown anew, and only it."""
    state = {"board": [0] * 5_000, "other": [1]}
    game = type("Game", (), {"update_state": lambda _s, state, _a: apply_update(state, flip)})()

    def flip(state: Any) -> None:
        state["board"] = [1] * 5_000

    played = play_action(game, state, 0)
    ((operation,),) = played.new_info
    assert (operation["op"], operation["path"]) == ("replace", "/board")
    view = filter_state(game, state)
    replay = replay_action(game, view, 0, played.new_info)
    assert replay == played.state
    assert replay["other"] is view["other"]


def test_a_view_that_is_too_deep_is_not_replayed() -> None:
    with pytest.raises(NotJson):
        replay_action(Shows(), nested(MAX_DEPTH + 1), 0, [[]])
