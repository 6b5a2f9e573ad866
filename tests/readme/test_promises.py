"""What the operators' pages say of endpoints and of faults is shown by a test: each row and each sentence has one."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.structure.imports import ROOT

NODE, TOWER = ((ROOT / "docs/operators" / each).read_text("utf-8") for each in ("node.md", "watchtower.md"))
FAULTS = {
    "the process is killed": "node/test_killed.py::threat_21_a_player_killed_at_any_point_of_a_dispute",
    "the disk is full": "node/test_troubles.py::nothing_leaves_while_the_disk_is_full",
    "an endpoint fails, hangs": "liars/test_misbehaviour.py::",
    "an endpoint asks us to wait": "chain/test_http.py::a_long_wait_is_told_and_nobody_is_asked_meanwhile",
    "an endpoint answers only some": "cli/test_play_rationed.py::a_game_is_played_disputed_and_paid_at_a_few",
    "an endpoint refuses a range": "chain/test_http.py::who_refuses_pending_is_asked_at_latest_and_that_is_remembered",
    "there is more to read": "follower/test_progress.py::each_look_leaves_less_undone_and_shows_a_challenge",
    "a question fails after": "follower/test_slow_endpoint.py::a_clock_is_seen_whatever_question_fails_after_its_log",
    "an endpoint leaves out": "follower/test_endpoint_quorum.py::threat_56_a_log_that_is_left_out_leaves_the_status",
    "endpoints say different": "follower/test_endpoint_quorum.py::threat_54_a_challenge_that_one_hides_is_told",
    "the process starts, or": "node/test_standstill.py::threat_54_nobody_moves_or_leaves_before_all_have_answered",
    "an endpoint is asked for 30": "node/test_standstill.py::threat_46_one_that_is_dead_from_the_start_is_waited_for",
    "an endpoint shows no new": "follower/test_endpoint_quorum.py::one_that_shows_no_new_block_is_told_and_waited_for",
    "an endpoint lies": "sender/test_liars.py::holes_23_and_24_one_that_lies_keeps_no_answer_from_the_chain",
    "the chain is another one": "cli/test_play_another_chain.py::threat_97_another_chain_for_a_while_is_told",
    "the chain has no transient": "chain/test_genuine.py::a_chain_without_transient_storage_gets_no_deployment",
    "a reorganisation": "follower/test_follower.py::threat_49_a_deposit_that_a_reorganisation_takes_is_told",
    "many channels are challenged": "node/test_thousand.py::threat_93_a_flood_of_challenges_in_one_block_is_answered",
    "fees rise": "sender/test_sender.py::",
    "another program has sent": "sender/test_blocked.py::hole_55_what_no_block_takes_holds_up_no_answer",
    "a token confirms approvals": "sender/test_allowances.py::threat_98_approvals_without_effect_are_told",
    "an endpoint is slow, and": "sender/test_progress.py::each_look_leaves_less_undone_and_offers_an_answer",
    "one endpoint is slower": "sender/test_lanes.py::hole_38_who_is_slower_than_a_liar_is_given_every_answer",
    "nothing can be sent for 30": "sender/test_endpoints.py::hole_51_what_waits_for_an_endpoint_is_said",
    "a line fails, a player": "node/test_troubles.py::a_player_who_fails_is_asked_again_and_the_rest_is_done",
    "two processes open": "node/test_node.py::threat_48_a_channel_is_driven_by_one_process",
}
"""By how the first cells of the node's table of faults begin."""
SENTENCES = {
    NODE: {
        "Each is asked by itself, by a thread of its own": "node/test_thousand.py::there_is_one_thread_for_each",
        "a clock runs against us: answer": "follower/test_cross_check.py::",
        "the earliest of those that answer, unknown until all have": "follower/test_cross_check.py::",
        "What gas may be used is bounded by our own table": "sender/test_pricing.py::hole_23_an_estimate_is_believed",
        "defends is offered to every endpoint": "sender/test_liars.py::hole_23_each_endpoint_is_given_an_answer",
        "several, one of them honest": "liars/slowly/test_over_time.py::threat_43_whatever_happens_over_time_one",
        "one, and it lies": "liars/test_defence.py::threat_43_a_liar_alone_gets_no_signature_and_ends_nothing",
        "A liar among several can cost the gas": "sender/test_liars.py::holes_23_and_24_one_that_lies",
        "counted by `scripts/measure requests --write`": "scripts/test_endpoint_requests.py::the_page_shows_what_is",
        "A node looks at the chain every two seconds": "workers/test_polls.py::a_quiet_worker_looks_half_as_often",
        "by one request: for the newest block or": "follower/test_head.py::one_question_a_second_finds_each_block_at",
        "It looks every second while a channel waits": "follower/test_endpoint_quorum.py::endpoints_are_asked_less",
        "later where an endpoint is slow": "follower/test_head.py::a_slow_endpoint_is_asked_for_the_pending_block",
        "A new block adds three requests": "scripts/test_endpoint_requests.py::a_block_adds_three_requests",
        "The chain's id is asked for once in five seconds": "chain/test_local.py::threat_97_the_chain_is_asked_for",
        "On a local chain": "follower/test_head.py::the_head_is_the_newest_block_and_the_time_of_the_next",
        "an idle table takes one request in two seconds": "scripts/test_endpoint_requests.py::what_is_asked",
        "Each further 5,000 add one request": "node/test_requests.py::each_five_thousand_channels_more_cost_a_block",
        "A game can be played at five": "cli/test_play_rationed.py::a_game_is_played_disputed_and_paid_at_a_few",
        "a look begins one or two seconds after the end": "workers/test_polls.py::a_look_begins_a_second_after_the",
        "to answer 250 challenges takes up to 1,000": "node/test_thousand.py::threat_93_a_flood_through_slow_endpoints",
        "`tests/node/test_thousand.py` has 1,000 channels": "node/test_thousand.py::threat_46_every_challenge",
    },
    TOWER: {
        "**Endpoints.** One that is down at the start": "cli/test_watch.py::a_node_that_is_down_at_the_start_is_asked",
        "It answers a challenge that any of its endpoints shows": "watchtower/test_endpoints.py::threat_43_another",
        "An appointment, and a poll while there is no new block": "watchtower/test_agenda.py::",
        "**Budgets.**": "watchtower/test_watching.py::threat_95_sixteen_channels_of_one_client_are_answered",
    },
}
"""By the pages' own words."""


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return any(each.startswith(f"test_{name}") for each in names_in(file))


def test_each_fault_has_a_test() -> None:
    table = NODE.partition("| what happens | what the node does |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [row.split("|")[1].strip() for row in table.splitlines()]
    assert [sum(row.startswith(each) for each in FAULTS) for row in rows] == [1] * len(FAULTS)
    assert [each for each in FAULTS.values() if not is_there(each)] == []


@pytest.mark.parametrize("page", SENTENCES, ids=["node", "watchtower"])
def test_each_sentence_has_a_test(page: str) -> None:
    text = " ".join(page.split())
    assert [each for each in SENTENCES[page] if each not in text] == []
    assert [each for each in SENTENCES[page].values() if not is_there(each)] == []


def test_what_is_imitated_of_providers_has_the_tests_that_are_named() -> None:
    table = NODE.partition("| limit | tried with | test |\n|---|---|---|\n")[2].partition("\n\n")[0]
    named = [re.findall("`(tests/[^`]*)`", row) or ["the same"] for row in table.splitlines()]
    assert len(named) > 10
    assert [file for files in named for file in files if file != "the same" and not (ROOT / file).exists()] == []
