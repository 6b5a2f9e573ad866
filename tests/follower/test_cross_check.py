"""Defend by union, commit by intersection: what follows from what all endpoints show, over all of a small space. Row 54
of the list of attacks, and holes 21, 22 and 29 of the former node."""

from __future__ import annotations

from itertools import product

import pytest

from forcemove import Allocation, ForcemoveError, VariablePart, address_destination
from forcemove.chain.block_time import FAR
from forcemove.follower.cross_check import EndpointView, combine, combined_time
from forcemove.follower.errors import AnotherChain, LogsLeftOut, StillReading
from forcemove.follower.on_chain_view import OnChainView
from forcemove.protocol.encoding import fingerprint, hash_state
from forcemove.protocol.machine.inputs import Payout
from forcemove.protocol.machine.record import EMPTY_RECORD, Owed, Record, Recorded
from forcemove.protocol.words import EMPTY_STATUS, Mode, Status

ID, END = bytes(range(32)), 100
STATE = VariablePart((Allocation(bytes(20), address_destination(b"\x01" * 20), 5),), b"", 7)
HASHES = hash_state(ID, STATE)
OPEN, CHALLENGED = (Status(7, time, fingerprint(HASHES.state, HASHES.outcome)) for time in (0, END))
OWED = Owed(HASHES.state, STATE.outcome)
HELD = ((bytes(20), 5),)
LEFT_OUT = LogsLeftOut("x", ID, 10)


def recorded(status: Status) -> Record:
    return Record(status, Recorded(STATE, HASHES, ()), OWED)


SIGHTS: dict[str, OnChainView | None] = {
    "not looked yet": None,
    "nothing recorded": OnChainView(EMPTY_RECORD, holdings=HELD, status=EMPTY_STATUS, at=5),
    "nothing paid in": OnChainView(EMPTY_RECORD, status=EMPTY_STATUS, at=10),
    "open": OnChainView(recorded(OPEN), holdings=HELD, status=OPEN, at=10),
    "challenge": OnChainView(recorded(CHALLENGED), holdings=HELD, status=CHALLENGED, at=10),
    "challenge by its status alone": OnChainView(EMPTY_RECORD, holdings=HELD, status=CHALLENGED, at=10, error=LEFT_OUT),
    "challenge by its log alone": OnChainView(recorded(CHALLENGED), holdings=HELD, status=OPEN, at=10, error=LEFT_OUT),
    "closed": OnChainView(Record(payout_begun=True, closed=True), at=10),
}
CLOCKS = ("challenge", "challenge by its status alone", "challenge by its log alone")
TIMES = (END - 1, END, END + 10_000)
DEPTHS = (9, 10)
Named = tuple[str, EndpointView]


def views(times: tuple[int, ...] = TIMES) -> list[Named]:
    return [
        (name, EndpointView("x", sight, depth, time, is_live))
        for (name, sight), depth, time, is_live in product(SIGHTS.items(), DEPTHS, times, (True, False))
    ]


def spaces() -> list[tuple[Named, ...]]:
    some = [each for each in views((END - 1, END)) if each[1].is_live or each[0] in CLOCKS]
    return [(each,) for each in views()] + list(product(views(), repeat=2)) + list(product(some[::3], repeat=3))


def is_running(view: EndpointView) -> bool:
    return view.time < END


def test_threat_54_no_commitment_on_what_one_view_denies_and_no_silence_where_one_shows_a_clock() -> None:
    agreed, silent_in_agreement = 0, 0
    for named in spaces():
        shown = [view for _, view in named]
        live = [(name, view) for name, view in named if view.is_live]
        now = combined_time([view.time for _, view in live] or [view.time for view in shown])
        combined = combine(shown, now)
        if combined.agreed is not None:
            agreed += 1
            assert live
            assert len({name for name, _ in live}) == 1
            assert all(view.view is not None and view.view.error is None for _, view in live)
            assert not combined.differences.is_denied
        for name, view in named:
            if name not in CLOCKS or not is_running(view):
                continue
            clocks = [each.status for each in combined.differences.clocks]
            is_in_record = combined.agreed is not None and live[0][0] == "challenge" == name
            assert is_in_record or CHALLENGED in clocks
            silent_in_agreement += is_in_record and not clocks
    assert agreed > 1_000
    assert silent_in_agreement > 100


def test_threat_54_what_is_final_in_any_view_is_collected() -> None:
    for named in spaces():
        shown = [view for _, view in named]
        live = [view.time for view in shown if view.is_live]
        now = combined_time(live or [view.time for view in shown])
        combined = combine(shown, now)
        for name, view in named:
            if name in ("challenge", "challenge by its log alone") and view.time >= END:
                by_itself = combined.agreed is not None and CHALLENGED.mode(now) is Mode.FINALIZED
                assert by_itself or Payout(OWED, HELD) in combined.differences.payouts


def test_threat_54_views_that_have_read_as_far_and_differ_deny_one_another() -> None:
    for (one_name, one), (other_name, other) in product(views(), repeat=2):
        if not (one.is_live and other.is_live) or one.view is None or other.view is None:
            continue
        newest = max(one.view.at, other.view.at)
        are_current = one.read_up_to >= newest and other.read_up_to >= newest
        if are_current and one_name != other_name:
            combined = combine([one, other], END)
            assert combined.differences.is_denied
            assert combined.disagreeing is not None


def test_one_that_is_late_is_waited_for_and_denies_nothing() -> None:
    late = EndpointView("late", SIGHTS["nothing recorded"], 9, END - 1)
    combined = combine([late, EndpointView("x", SIGHTS["open"], 10, END - 1)], END - 1)
    assert combined.agreed is None
    assert not combined.differences.is_denied


@pytest.mark.parametrize("was_agreed", [False, True])
def test_threat_54_nothing_is_agreed_on_before_all_have_answered(was_agreed: bool) -> None:
    """And all is denied, until it was agreed on once."""
    before = EndpointView("before", SIGHTS["challenge"], 10, END - 1, has_answered=False)
    here = EndpointView("here", SIGHTS["challenge"], 10, END - 1)
    combined = combine([before, here], 0, was_agreed=was_agreed)
    assert combined.agreed is None
    assert combined.differences.is_denied == (not was_agreed)
    assert [each.status for each in combined.differences.clocks] == [CHALLENGED]
    agreed = combine([here, here], END - 1, was_agreed=was_agreed)
    assert agreed.agreed == (here, here)
    assert not agreed.differences.is_denied


def test_threat_43_a_view_of_another_chain_has_no_say_and_alone_leads_to_nothing() -> None:
    error = AnotherChain("x", ID, 1, bytes(32), None)
    other = EndpointView("other", OnChainView(recorded(CHALLENGED), status=CHALLENGED, at=1, error=error), 10, END - 1)
    here = EndpointView("here", SIGHTS["open"], 10, END - 1)
    assert combine([other, here], END - 1).agreed == (here,)
    assert combine([other], END - 1) == combine([], END - 1)


def test_threat_54_a_log_that_is_left_out_leaves_the_clock_with_what_was_recorded_unknown() -> None:
    (clock,) = combine(
        [EndpointView("x", SIGHTS["challenge by its status alone"], 10, END - 1)], END - 1
    ).differences.clocks
    assert (clock.status, clock.recorded) == (CHALLENGED, None)


def test_threat_56_what_was_recorded_before_is_not_what_a_clock_without_a_log_is_of() -> None:
    later = Status(9, END, CHALLENGED.fingerprint)
    before = OnChainView(recorded(OPEN), holdings=HELD, status=later, at=10, error=LEFT_OUT)
    (clock,) = combine([EndpointView("x", before, 10, END - 1)], END - 1).differences.clocks
    assert (clock.status.turn_num_record, clock.recorded) == (9, None)


@pytest.mark.parametrize(
    ("times", "own", "expected"),
    [
        ([], 5, 0),
        ([END], None, END),
        ([END + 7200, END], None, END),
        ([END + 7200, None], None, 0),
        ([0, END], None, END),
        ([END, 2**62], 0, END),
        ([END + FAR], END, END + FAR),
        ([END + FAR + 1], END, END),
        ([END], END + 10 * FAR, END),
        ([2**62], END, END),
        ([2**62], None, 2**62),
    ],
)
def test_threat_54_no_endpoints_time_alone_ends_anything(
    times: list[int | None], own: int | None, expected: int
) -> None:
    assert combined_time(times, own) == expected


@pytest.mark.parametrize(
    ("error", "clocks"), [(StillReading("x", ID, 10), []), (LogsLeftOut("x", ID, 10), [CHALLENGED])]
)
def test_a_clock_that_was_stopped_since_the_logs_were_read_is_not_answered(
    error: ForcemoveError, clocks: list[Status]
) -> None:
    view = OnChainView(Record(CHALLENGED), status=OPEN, at=10, error=error)
    found = combine([EndpointView("x", view, 10, END - 1)], END - 1).differences.clocks
    assert [each.status for each in found] == clocks


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_view_of_which_not_all_is_read_yet_is_waited_for(depth: int) -> None:
    """It denies nothing, and nothing is committed to without it; the clock that its status shows is answered."""
    unread = OnChainView(EMPTY_RECORD, status=CHALLENGED, at=10, error=StillReading("x", ID, 10))
    one = EndpointView("x", unread, depth, END - 1)
    other = EndpointView("y", SIGHTS["open"], 10, END - 1)
    for shown in ([one], [one, other], [other, one]):
        combined = combine(shown, END - 1)
        assert (combined.agreed, combined.disagreeing, combined.differences.is_denied) == (None, None, False)
        assert [each.status for each in combined.differences.clocks] == [CHALLENGED]
