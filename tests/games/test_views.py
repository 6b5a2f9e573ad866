"""Views: every promise of the module, and the law that replaying gives the view of the new state."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import doctest
import json
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forcemove_games import views
from forcemove_games.views import (
    DisclosureMalformed,
    DisclosuresLeft,
    NestedAction,
    NoDisclosure,
    NotAwaited,
    NotJson,
    OutsideAction,
    PlayResult,
    ReplayMismatch,
    TwoResults,
    UnknownViewer,
    apply_update,
    filter_state,
    play_action,
    replay_action,
)
from tests.expected import raising

HIDDEN = "the secret"


class Cards:
    """A pile that nobody sees, and a hand for each player; drawing shows the drawer its card and all the number."""

    def update_state(self, state: Any, action: Any) -> None:
        def deal(state: Any) -> None:
            state["hands"][action["who"]].append(state["pile"].pop())

        def show(state: Any) -> None:
            state["shown"].append(state["hands"][action["who"]].pop())

        if action["type"] == "draw":
            apply_update(state, deal)
        if action["type"] == "show":
            apply_update(state, show)
        state["turns"] += 1

    def filters(self, state: Any) -> dict[str, Any]:
        def view_of(who: str | None) -> Any:
            def view(state: Any) -> None:
                state["pile"] = len(state["pile"])
                state["hands"] = {name: hand if name == who else len(hand) for name, hand in state["hands"].items()}

            return view

        return {**{name: view_of(name) for name in state["hands"]}, "spectator": view_of(None)}


def dealt() -> Any:
    return {"pile": ["c1", "c2", "c3", "c4"], "hands": {"alice": [], "bob": []}, "shown": [], "turns": 0, "rules": [1]}


DRAW = {"type": "draw", "who": "alice"}


def game_of(update: Any, filters: Any = None) -> Any:
    """A game of these two functions."""
    members: dict[str, Any] = {"update_state": lambda _self, state, action: update(state, action)}
    if filters is not None:
        members["filters"] = lambda _self, state: filters(state)
    return type("Game", (), members)()


def hide_secret(_: Any) -> Any:
    def view(state: Any) -> None:
        state.pop("secret", None)

    return view


def test_the_document_says_what_comes_out() -> None:
    results = doctest.testmod(views)
    assert results.attempted >= 6
    assert not results.failed


# ------------------------------------------------------------------------------------------------------ 1: new values


def test_what_is_given_stays_as_it_is() -> None:
    state, action = dealt(), dict(DRAW)
    before = copy.deepcopy((state, action))
    play_action(Cards(), state, action)
    assert (state, action) == before


def test_what_an_action_leaves_alone_is_the_same_object() -> None:
    state = dealt()
    result = play_action(Cards(), state, DRAW).state
    assert result["rules"] is state["rules"]
    assert result["hands"]["bob"] is state["hands"]["bob"]
    assert result["hands"]["alice"] is not state["hands"]["alice"]


def test_an_action_that_changes_nothing_returns_the_same_state() -> None:
    state = dealt()
    assert play_action(game_of(lambda _state, _action: None), state, 0).state is state
    view = filter_state(Cards(), state, "bob")
    assert replay_action(game_of(lambda _state, _action: None), view, 0) is view


def test_a_draft_that_is_kept_is_nobodys() -> None:
    kept: list[Any] = []

    def update(state: Any, _: Any) -> None:
        kept.append(state)
        state["new"] = [1]

    result = play_action(game_of(update), {"old": [0]}, 0).state
    kept[0]["new"].append(2)
    kept[0]["old"].append(2)
    assert result == {"old": [0], "new": [1]}


# ---------------------------------------------------------------------------------------------------- 2: update_state


def test_update_state_changes_its_draft_or_returns_a_new_state() -> None:
    assert play_action(game_of(lambda state, _: state.update(a=2)), {"a": 1}, 0).state == {"a": 2}
    assert play_action(game_of(lambda state, _: {**state, "a": 2}), {"a": 1}, 0).state == {"a": 2}
    assert play_action(game_of(lambda state, _: state.update(a=2) or state), {"a": 1}, 0).state == {"a": 2}


def test_both_at_once_is_an_error() -> None:
    def update(state: Any, _: Any) -> Any:
        state["a"] = 2
        return {"a": 3}

    with pytest.raises(TwoResults):
        play_action(game_of(update), {"a": 1}, 0)


def test_a_draft_that_was_changed_at_any_time_is_not_given_up_for_another_value() -> None:
    """What is lost would be lost in silence: not what was changed before, nor what was changed after."""

    def before(state: Any, _: Any) -> Any:
        state["a"] = 2
        apply_update(state, lambda draft: draft.update(b=2))
        return {"a": 3}

    def after(state: Any, _: Any) -> Any:
        state = apply_update(state, lambda draft: {**draft, "b": 2})
        state["a"] = 2
        return {"a": 3}

    def handed_over(state: Any, _: Any) -> Any:
        state["a"] = 2
        return apply_update({"a": 3}, lambda draft: draft.update(b=2))

    for update in (before, after, handed_over):
        with raising(TwoResults("update_state")):
            play_action(game_of(update), {"a": 1}, 0)


def test_a_draft_that_was_only_read_may_be_given_up_for_another_value() -> None:
    """Also where an update has changed it: that was not the game."""

    def update(state: Any, _: Any) -> Any:
        apply_update(state, lambda draft: draft.update(b=2))
        return {**state, "c": 3}

    result = play_action(game_of(update), {"a": 1}, 0)
    assert result.state == {"a": 1, "b": 2, "c": 3}
    assert replay_action(game_of(update), {"a": 1}, 0, result.new_info) == result.state


def shown_then_logged(state: Any, _: Any) -> Any:
    state = apply_update(state, lambda draft: {**draft, "shown": draft["secret"]})
    state["log"].append("x")
    return state


def in_place_then_a_new_root(state: Any, _: Any) -> Any:
    state = apply_update(state, lambda draft: draft["log"].append("x"))
    return apply_update(state, lambda draft: {**draft, "shown": draft["secret"]})


def a_new_root_that_nobody_takes(state: Any, _: Any) -> None:
    apply_update(state, lambda draft: {**draft, "shown": draft["secret"]})
    state["log"] = [*state["log"], "x"]


def a_list_that_was_taken_before(state: Any, _: Any) -> Any:
    log = state["log"]
    state = apply_update(state, lambda draft: {**draft, "shown": draft["secret"]})
    log.append("x")
    return state


@pytest.mark.parametrize(
    "update", [shown_then_logged, in_place_then_a_new_root, a_new_root_that_nobody_takes, a_list_that_was_taken_before]
)
def test_the_draft_to_go_on_with_is_the_one_that_was_handed_over(update: Any) -> None:
    game, state = game_of(update, hide_secret), {"secret": 5, "log": []}
    result = play_action(game, state, 0)
    assert result.state == {"secret": 5, "log": ["x"], "shown": 5}
    assert replay_action(game, {"log": []}, 0, result.new_info) == {"log": ["x"], "shown": 5}


@pytest.mark.parametrize("last", [{"a": 1}, [3, 4], 5, "text"])
def test_a_list_may_be_followed_by_any_root(last: Any) -> None:
    def update(state: Any, _: Any) -> Any:
        state = apply_update(state, lambda draft: draft[1:])
        return apply_update(state, lambda _: last)

    result = play_action(game_of(update), [1, 2], 0)
    assert result.state == last
    assert replay_action(game_of(update), [1, 2], 0, result.new_info) == last


def test_a_root_that_holds_the_one_before_it() -> None:
    def update(state: Any, _: Any) -> None:
        apply_update(state, lambda draft: {"was": draft, "and": [draft]})
        state["was"]["a"] = 2

    result = play_action(game_of(update), {"a": 1}, 0)
    assert result.state == {"was": {"a": 2}, "and": [{"a": 1}]}


def test_a_disclosure_that_was_wrong_counts_also_where_the_game_goes_on() -> None:
    def update(state: Any, _: Any) -> None:
        with contextlib.suppress(Exception):
            apply_update(state, lambda _: None)

    for new_info, error in (([], NoDisclosure), ([[{"op": "remove", "path": "/b"}]], DisclosureMalformed)):
        with pytest.raises(error):
            replay_action(game_of(update), {"a": 1}, 0, new_info)


# --------------------------------------------------------------------------------------------------------- 3: filters


def test_a_filter_deletes_derives_or_returns() -> None:
    assert filter_state(Cards(), dealt(), "alice")["pile"] == 4
    assert filter_state(game_of(None, hide_secret), {"a": 1, "secret": 2}) == {"a": 1}
    assert filter_state(game_of(None, lambda _: lambda state: [state["a"]]), {"a": 1}) == [1]


def test_a_filter_never_touches_the_state() -> None:
    state = {"a": [1], "secret": HIDDEN}
    view = filter_state(game_of(None, hide_secret), state)
    view["a"].append(2)
    assert state == {"a": [1], "secret": HIDDEN}
    returned = filter_state(game_of(None, lambda _: lambda given: given["a"]), state)
    returned.append(2)
    assert state["a"] == [1]


def test_without_filters_everything_is_visible() -> None:
    assert filter_state(game_of(None), {"a": 1}) == {"a": 1}
    assert play_action(
        game_of(lambda state, _: apply_update(state, lambda s: s.update(a=2))), {"a": 1}, 0
    ).new_info == [[{"op": "replace", "path": "/a", "value": 2}]]


@pytest.mark.parametrize("viewer", ["mallory", None])
def test_an_unknown_viewer_is_an_error(viewer: str | None) -> None:
    with pytest.raises(UnknownViewer):
        filter_state(Cards(), dealt(), viewer)
    with pytest.raises(UnknownViewer):
        filter_state(game_of(None, hide_secret), {}, "mallory")


def test_viewers_are_those_of_the_states_beginning() -> None:
    def update(state: Any, _: Any) -> None:
        apply_update(state, lambda draft: draft["seats"].append("late"))

    game = game_of(update, lambda state: {seat: lambda _: None for seat in state["seats"]})
    assert set(play_action(game, {"seats": ["early"]}, 0).new_info) == {"early"}


# ------------------------------------------------------------------------------------------------- 4: what is shown


def test_there_is_one_entry_for_each_update_also_where_nothing_is_seen() -> None:
    result = play_action(Cards(), dealt(), DRAW)
    assert [len(each) for each in result.new_info.values()] == [1, 1, 1]
    blind = play_action(
        game_of(lambda state, _: apply_update(state, lambda s: s.update(secret=1)), hide_secret), {"secret": 0}, 0
    )
    assert blind.new_info == [[]]


def test_what_is_shown_holds_no_hidden_value() -> None:
    new_infos = play_action(Cards(), dealt(), DRAW).new_info
    assert "c4" in json.dumps(new_infos["alice"])
    for viewer in ("bob", "spectator"):
        assert "c" not in json.dumps([entry["value"] for entry in new_infos[viewer][0]])


def test_what_is_shown_shares_nothing_with_the_state() -> None:
    def update(state: Any, _: Any) -> None:
        apply_update(state, lambda draft: draft.update(b=[[1]]))

    result = play_action(game_of(update), {}, 0)
    result.new_info[0][0]["value"].append(2)
    assert result.state == {"b": [[1]]}


# ---------------------------------------------------------------------------------------------------------- 5: replay


def test_a_view_follows_without_the_function_being_called() -> None:
    state, views_ = (
        dealt(),
        {viewer: filter_state(Cards(), dealt(), viewer) for viewer in ("alice", "bob", "spectator")},
    )
    for action in (DRAW, {"type": "draw", "who": "bob"}, {"type": "show", "who": "alice"}):
        state, new_infos = play_action(Cards(), state, action)
        for viewer, view in views_.items():
            views_[viewer] = replay_action(Cards(), view, action, new_infos[viewer])
            assert views_[viewer] == filter_state(Cards(), state, viewer)
    assert views_["spectator"]["shown"] == ["c4"]


def test_too_few_and_too_many_entries_are_errors() -> None:
    new_info = play_action(Cards(), dealt(), DRAW).new_info["bob"]
    view = filter_state(Cards(), dealt(), "bob")
    with pytest.raises(NoDisclosure):
        replay_action(Cards(), view, DRAW, [])
    with pytest.raises(DisclosuresLeft):
        replay_action(Cards(), view, DRAW, new_info * 2)
    assert view == filter_state(Cards(), dealt(), "bob")


@pytest.mark.parametrize(
    "patch",
    [
        None,
        5,
        [5],
        [{}],
        [{"op": "replace"}],
        [{"op": "replace", "path": "pile", "value": 1}],
        [{"op": "replace", "path": "/no/such/place", "value": 1}],
        [{"op": "remove", "path": "/hands/mallory"}],
        [{"op": "add", "path": "/shown/7", "value": 1}],
        [{"op": "invent", "path": "/pile", "value": 1}],
        [{"op": "test", "path": "/pile", "value": 99}],
        [{"op": "add", "path": "/pile", "value": math.nan}],
        [{"op": "add", "path": "/pile", "value": {1: 2}}],
        [{"op": "copy", "from": "/nowhere", "path": "/pile"}],
    ],
)
def test_a_disclosure_that_is_none_is_refused_and_changes_nothing(patch: Any) -> None:
    view = filter_state(Cards(), dealt(), "bob")
    with pytest.raises(DisclosureMalformed):
        replay_action(Cards(), view, DRAW, [patch])
    assert view == filter_state(Cards(), dealt(), "bob")


def test_a_disclosure_is_a_list() -> None:
    with pytest.raises(DisclosureMalformed):
        replay_action(Cards(), filter_state(Cards(), dealt(), "bob"), DRAW, "new")  # type: ignore[arg-type]


def test_updates_belong_to_actions() -> None:
    with pytest.raises(OutsideAction):
        apply_update({}, lambda _: None)


def test_an_update_that_comes_after_its_action_is_refused() -> None:
    import contextvars

    contexts: list[contextvars.Context] = []
    play_action(game_of(lambda _s, _a: contexts.append(contextvars.copy_context())), {}, 0)
    with pytest.raises(OutsideAction):
        contexts[0].run(apply_update, {}, lambda _: None)


def test_actions_of_one_game_do_not_nest_and_of_two_games_do() -> None:
    inner = game_of(lambda state, _: state.update(a=2))
    outer = game_of(lambda state, _: state.update(b=play_action(inner, {"a": 1}, 0).state))
    assert play_action(outer, {}, 0).state == {"b": {"a": 2}}

    def again(state: Any, _: Any) -> None:
        play_action(nested, state, 0)

    nested = game_of(again)
    with pytest.raises(NestedAction):
        play_action(nested, {}, 0)


@pytest.mark.parametrize("fails", ["update_state", "fn"])
def test_after_an_error_the_game_is_usable_again(fails: str) -> None:
    def fail(_: Any) -> None:
        raise ZeroDivisionError

    def update(state: Any, action: Any) -> None:
        if action == "update_state":
            fail(state)
        apply_update(state, fail if action == "fn" else lambda draft: draft.update(a=2))

    game = game_of(update)
    with pytest.raises(ZeroDivisionError):
        play_action(game, {"a": 1}, fails)
    assert play_action(game, {"a": 1}, "well").state == {"a": 2}


def test_a_list_in_two_places_is_two_equal_lists() -> None:
    """As it would be after a way through JSON; else what is shown of one of them would happen to both."""

    def update(state: Any, _: Any) -> None:
        state["b"] = state["a"]
        apply_update(state, lambda draft: draft["b"].append(2))
        apply_update(state, lambda draft: draft.update(c=draft["b"], d=[draft["a"]]))
        state["c"].append(3)

    state = {"a": [1]}
    result = play_action(game_of(update), state, 0)
    assert result.state == {"a": [1], "b": [1, 2], "c": [1, 2, 3], "d": [[1]]}
    assert replay_action(game_of(update), state, 0, result.new_info) == result.state


# -------------------------------------------------------------------------------------------------------- 6: the law


@pytest.mark.parametrize(
    "update",
    [
        lambda state, _: state.update(a=state["secret"]),
        lambda state, _: state.update(a=state.get("secret", 0)),
        lambda state, _: state.update(a=2) if "secret" in state else None,
        lambda state, _: apply_update(state, lambda _: None) if "secret" in state else None,
    ],
    ids=["a hidden read", "a hidden read with a default", "a hidden branch", "a hidden update"],
)
def test_what_depends_on_a_secret_is_found(update: Any) -> None:
    with pytest.raises(ReplayMismatch):
        play_action(game_of(update, hide_secret), {"a": 1, "secret": 5}, 0)


def test_chance_outside_of_an_update_is_found() -> None:
    numbers = iter(range(10))
    with raising(ReplayMismatch(None, {"a": 0}, {"a": 1}, [])):
        play_action(game_of(lambda state, _: state.update(a=next(numbers))), {"a": None}, 0)


def test_the_check_can_be_switched_off() -> None:
    game = game_of(lambda state, _: state.update(a=state["secret"]), hide_secret)
    assert play_action(game, {"a": 1, "secret": 5}, 0, verify=False).state == {"a": 5, "secret": 5}


names = st.sampled_from("abcd")
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, 1.0]), st.text("xy", max_size=2)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
states = st.dictionaries(names, values, max_size=4)
changes = st.lists(st.tuples(names, st.one_of(st.just("remove"), values.map(lambda value: [value]))), max_size=4)
rules = st.dictionaries(names, st.sampled_from(["delete", "size", "blank"]), max_size=3)
secret_steps = st.tuples(st.just("secret"), changes)
open_steps = st.tuples(st.just("open"), values)
root_steps = st.tuples(st.sampled_from(["root", "taken root"]), changes)
log_steps = st.tuples(st.just("log"), values)
returning = st.tuples(st.just("return"), st.none())
careless_steps = st.tuples(st.just("careless"), st.tuples(names, names))


@dataclass
class Case:
    """A random game, its state and an action: the steps that it takes. Two viewers, each with a random filter."""

    state: Any
    steps: Any
    rules: dict[str, dict[str, str]]

    @property
    def game(self) -> Any:
        return game_of(take_all, lambda _: {viewer: hiding(hidden) for viewer, hidden in self.rules.items()})


def cases(*steps: st.SearchStrategy[Any]) -> st.SearchStrategy[Case]:
    viewers = st.fixed_dictionaries({"first": rules, "second": rules})
    listed = st.lists(st.one_of(*steps), max_size=6).map(lambda each: json.loads(json.dumps(each)))
    return st.builds(Case, states, listed, viewers)


lawful_cases = cases(secret_steps, root_steps, open_steps, log_steps, returning)


def take_all(state: Any, steps: Any) -> Any:
    """What a lawful game does with secrets it does in an update, in place or with a new root, which it takes or does
    not take; `open`, `again` and `log` are never hidden. A careless one copies. It returns nothing, or its draft."""
    log = state.setdefault("log", []) if any(kind == "log" for kind, _ in steps) else []
    for kind, what in steps:
        if kind == "secret":
            apply_update(state, partial(change_all, what))
        elif kind == "root":
            apply_update(state, partial(another_root, what))
        elif kind == "taken root":
            state = apply_update(state, partial(another_root, what))
        elif kind == "log":
            log.append(what)
        elif kind == "open":
            state["open"] = state["again"] = what
        elif kind == "careless" and what[0] in state:
            state[what[1]] = state[what[0]]
    return state if ["return", None] in steps else None


def another_root(changes_: Any, state: Any) -> Any:
    changed = {**state}
    change_all(changes_, changed)
    return changed


def change_all(changes_: Any, state: Any) -> None:
    for name, what in changes_:
        if what == "remove":
            state.pop(name, None)
        else:
            state[name] = copy.deepcopy(what[0])


def hiding(hidden: dict[str, str]) -> Any:
    def view(state: Any) -> None:
        for name, how in hidden.items():
            value = state.pop(name, None)
            if how == "size":
                state["size of " + name] = len(json.dumps(value))
            if how == "blank":
                state[name] = HIDDEN

    return view


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def breaks_the_law(case: Case, result: PlayResult, viewer: str) -> bool:
    view = filter_state(case.game, case.state, viewer)
    try:
        replayed = replay_action(case.game, view, case.steps, result.new_info[viewer])
    except DisclosureMalformed:  # the patch does not fit what the game has made of the view before
        return True
    return text(replayed) != text(filter_state(case.game, result.state, viewer))


def follow(case: Case) -> bool:
    """Whether all viewers follow, and nobody's state or view was touched."""
    before = text(case.state)
    result = play_action(case.game, case.state, case.steps, verify=False)
    return text(case.state) == before and not any(breaks_the_law(case, result, viewer) for viewer in case.rules)


@given(lawful_cases)
def test_the_law(case: Case) -> None:
    assert follow(case)
    play_action(case.game, case.state, case.steps)


@given(cases(secret_steps, root_steps, open_steps, log_steps, returning, careless_steps))
def test_just_what_breaks_the_law_is_found(case: Case) -> None:
    result = play_action(case.game, case.state, case.steps, verify=False)
    if any(breaks_the_law(case, result, viewer) for viewer in case.rules):
        with pytest.raises(ReplayMismatch):
            play_action(case.game, case.state, case.steps)
    else:
        assert play_action(case.game, case.state, case.steps) == result


def elements(value: Any) -> list[Any]:
    return [value] if type(value) not in (dict, list) else [*(value.values() if type(value) is dict else value)]


@given(values, st.lists(st.tuples(st.sampled_from(["becomes", "fills", "grows"]), values), max_size=5), st.booleans())
def test_the_law_for_roots_of_any_kind(state: Any, steps: Any, is_taken: bool) -> None:
    """They may change their kind, too, and are changed directly in between; anyone who does not take what
    `apply_update` returns has a draft as long as it stays a list or a dictionary."""

    def become(what: Any, _: Any) -> Any:
        return what

    def fill(what: Any, draft: Any) -> Any:
        if type(draft) is list:
            draft.extend(copy.deepcopy(elements(what)))
        return draft

    def update(state: Any, _: Any) -> Any:
        for kind, what in steps:
            if kind == "grows":
                state = fill(what, state)
            elif is_taken or type(state) is type(what):
                state = apply_update(state, partial(fill if kind == "fills" else become, what))
        return state

    game = game_of(update)
    result = play_action(game, state, 0)
    assert text(replay_action(game, state, 0, result.new_info)) == text(result.state)


# ------------------------------------------------------------------------------------------------ 7: tasks and threads


@given(st.lists(lawful_cases, min_size=2, max_size=4))
def test_the_law_holds_among_tasks(together: list[Case]) -> None:
    """Each viewer replays in a task of its own, while other games are played and replayed."""

    async def view(case: Case, result: PlayResult, viewer: str) -> bool:
        await asyncio.sleep(0)
        return not breaks_the_law(case, result, viewer)

    async def play(case: Case) -> list[bool]:
        await asyncio.sleep(0)
        result = play_action(case.game, case.state, case.steps)
        return await asyncio.gather(*(view(case, result, viewer) for viewer in case.rules))

    async def all_of_them() -> list[list[bool]]:
        return await asyncio.gather(*(play(case) for case in together))

    assert asyncio.run(all_of_them()) == [[True, True]] * len(together)


@given(st.lists(lawful_cases, min_size=2, max_size=4))
def test_the_law_holds_among_threads(together: list[Case]) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(together)) as pool:
            assert all(pool.map(follow, together))
    finally:
        sys.setswitchinterval(interval)


def test_tasks_do_not_disturb_each_other() -> None:
    async def player(number: int) -> Any:
        state = {"a": number}
        game = game_of(lambda state, _: apply_update(state, lambda draft: draft.update(a=draft["a"] + 1)))
        for _ in range(5):
            state = play_action(game, state, 0).state
            await asyncio.sleep(0)
        return state["a"]

    async def all_of_them() -> Any:
        return await asyncio.gather(*(player(10 * number) for number in range(5)))

    assert asyncio.run(all_of_them()) == [10 * number + 5 for number in range(5)]


def test_two_threads_are_in_the_midst_of_their_actions_at_once() -> None:
    meeting = threading.Barrier(2, timeout=10)

    def update(state: Any, action: Any) -> None:
        meeting.wait()
        apply_update(state, lambda draft: draft.update(a=action))
        meeting.wait()

    game = game_of(update)
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda action: play_action(game, {"a": 0}, action, verify=False), [1, 2])
    assert [result.state for result in results] == [{"a": 1}, {"a": 2}]


def test_threads_do_not_disturb_each_other() -> None:
    game = Cards()

    def draw_all(_: int) -> Any:
        state = dealt()
        for _ in range(4):
            state = play_action(game, state, DRAW).state
        return state["hands"]["alice"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(draw_all, range(20))) == [["c4", "c3", "c2", "c1"]] * 20


def test_nothing_is_awaited() -> None:
    async def later(*_: Any) -> None: ...

    with pytest.raises(NotAwaited):
        play_action(type("Later", (), {"update_state": later})(), {}, 0)
    with pytest.raises(NotAwaited):
        play_action(game_of(lambda state, _: apply_update(state, later)), {}, 0)
    with pytest.raises(NotAwaited):
        filter_state(game_of(None, lambda _: later), {})


# ---------------------------------------------------------------------------------------------------- 8: left out


def test_new_info_may_be_left_out_where_nothing_was_shown() -> None:
    game = game_of(lambda state, _: apply_update(state, lambda draft: draft.update(secret=1)), hide_secret)
    assert replay_action(game, {"a": 1}, 0) == {"a": 1}


def test_a_view_is_not_filtered_again() -> None:
    """A derived value that a view has is not derived from the view."""
    view = filter_state(Cards(), dealt(), "bob")
    assert replay_action(Cards(), view, {"type": "pass", "who": "bob"})["pile"] == 4


# ------------------------------------------------------------------------------------------------------------- 9: JSON


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({1: 2}, ""),
        ({"a": (1,)}, "/a"),
        ({"a": [0, math.nan]}, "/a/1"),
        ({"a/b": {"c~": math.inf}}, "/a~1b/c~0"),
        ({"a": b"bytes"}, "/a"),
        ({"a": {1, 2}}, "/a"),
        ({"a": "\ud800"}, "/a"),
        ({"\ud800": 1}, ""),
        ({"a": DRAW.items()}, "/a"),
    ],
)
def test_what_is_no_json_is_refused_with_its_path(value: Any, path: str) -> None:
    for attempt in (
        lambda: play_action(game_of(lambda _s, _a: None), value, 0),
        lambda: play_action(game_of(lambda _s, _a: None), {}, value),
        lambda: play_action(game_of(lambda _s, _a: value), {}, 0),
        lambda: replay_action(game_of(lambda _s, _a: None), value, 0),
        lambda: filter_state(game_of(None, lambda _: lambda _: value), {}),
    ):
        with pytest.raises(NotJson) as refused:
            attempt()
        assert refused.value.path == path


def test_what_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotJson):
        play_action(game_of(lambda _s, _a: None), endless, 0)


@pytest.mark.parametrize("old", [True, 1, 1.0])
@pytest.mark.parametrize("new", [True, 1, 1.0])
@pytest.mark.parametrize("wrap", [lambda x: {"a": x}, lambda x: {"a": [x, 2]}, lambda x: {"a": {"b": [[x]]}}])
def test_true_and_one_are_different_values(old: Any, new: Any, wrap: Any) -> None:
    game = game_of(lambda state, action: apply_update(state, lambda draft: draft.update(action)))
    result = play_action(game, wrap(old), wrap(new))
    assert json.dumps(result.state) == json.dumps(wrap(new))
    assert json.dumps(replay_action(game, wrap(old), wrap(new), result.new_info)) == json.dumps(wrap(new))


@pytest.mark.parametrize(("old", "new"), [({"a": 1}, [1]), ([1], 5), (5, {"a": 1}), ("text", 1), (True, 1)])
def test_the_root_itself_may_change(old: Any, new: Any) -> None:
    game = game_of(lambda state, action: apply_update(state, lambda _: action))
    result = play_action(game, old, new)
    assert result.state == new
    assert replay_action(game, old, new, result.new_info) == new
