"""The page on nodes shows what an endpoint is asked while nothing happens, as it is counted."""

from __future__ import annotations

from collections import Counter

import pytest

from scripts.diagrams import place
from scripts.measuring.pages import NODE_PAGE
from scripts.measuring.requests import NODE, PROGRAMS, TABLE, WAITING, Seconds, counted, journal_of, rows_of, text

MANY = 1_000
SHALLOW = "a node that believes the newest block"


def total(seconds: Seconds) -> Counter[str]:
    return sum(seconds, Counter[str]())


@pytest.fixture(scope="module", params=[100, pytest.param(MANY, marks=pytest.mark.long)])
def asked(request: pytest.FixtureRequest) -> dict[str, dict[int, Seconds]]:
    """With this number of channels, by program and by seconds from block to block; 0: no block."""
    with journal_of(request.param) as (url, journal):
        found = {program: counted(url, journal, program) for program in PROGRAMS}
        return found | {SHALLOW: counted(url, journal, NODE, confirmations=1)}


def test_three_requests_a_block_serve_all_idle_channels(asked: dict[str, dict[int, Seconds]]) -> None:
    """Where the newest block is believed: the head, statuses, logs; and the pending block, where that was asked for
    when there was a new one."""
    for block_time in (12, 2):
        with_logs = [each for each in asked[SHALLOW][block_time] if each["eth_getLogs"]]
        assert len(with_logs) == 60 / block_time
        assert {each.total() for each in with_logs} <= {3, 4}
        assert all(each["eth_call"] == each["eth_getLogs"] == 1 for each in with_logs)


def test_the_page_shows_what_is_counted(asked: dict[str, dict[int, Seconds]]) -> None:
    """Of one channel as of many."""
    with journal_of(1) as (url, journal):
        few = {program: counted(url, journal, program) for program in PROGRAMS}
    for program in PROGRAMS:
        assert [*map(total, few[program].values())] == [*map(total, asked[program].values())]
    shown = place(NODE_PAGE.name, NODE_PAGE.read_text(encoding="utf-8"), "requests")[0]
    assert shown == text(rows_of(1, few) | rows_of(100, asked) | rows_of(MANY, asked)) + "\n"


@pytest.mark.parametrize("program", [NODE, TABLE])
def test_a_block_adds_three_requests(asked: dict[str, dict[int, Seconds]], program: str) -> None:
    """The block that is six blocks deep, the statuses and the logs; and the newest block, where the pending one was
    asked for when there was a new one."""
    quiet = total(asked[program][0])
    for block_time in (12, 2):
        added, blocks = total(asked[program][block_time]) - quiet, 60 / block_time
        assert blocks <= added.pop("eth_getBlockByNumber") <= 2 * blocks
        assert added == dict.fromkeys(("eth_call", "eth_getLogs"), blocks)


def test_what_is_asked_without_a_block(asked: dict[str, dict[int, Seconds]]) -> None:
    """The head by one request every two seconds. A defence adds nothing."""
    head = Counter({"eth_getBlockByNumber": 30})
    assert total(asked[NODE][0]) == total(asked[TABLE][0]) == head
    assert total(asked[WAITING][0]) <= head
