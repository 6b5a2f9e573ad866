"""Each way in which this program has once lost money, or could have, has a test by its number: holes 21 to 35, found in
the node of one endpoint at a time, and 37 to 57, found on slow, crowded and metered endpoints. Of earlier ones no list
is left; modules that close some of them say so in their first lines."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.structure.imports import ROOT

HOLES = {
    21: ("follower/test_endpoint_quorum.py", "threat_54_the_time_of_one_ends_nothing"),
    22: ("sender/test_liars.py", "hole_22_what_pays_in_waits"),
    23: ("sender/test_liars.py", "hole_23_each_endpoint_is_given_an_answer"),
    24: ("sender/test_liars.py", "hole_24_a_tip_is_never_beyond_our_own"),
    25: ("liars/test_answers.py", "a_log_that_claims_all_bytes_there_are"),
    26: ("liars/test_recursion_limit.py", "the_recursion_limit_stays"),
    27: ("sender/test_liars.py", "hole_27_what_reverts_is_given_more_gas"),
    28: ("sender/test_liars.py", "hole_28_on_a_real_node"),
    29: ("watchtower/test_endpoints.py", "threat_56_a_challenge_whose_log_is_left_out_is_answered"),
    30: ("relay/test_strange.py", "threat_57_a_connection_that_was_entered_is_ended_by_no_other_version"),
    31: ("relay/test_strange.py", "threat_57_whatever_a_relay_does_wrong_a_line_goes_on"),
    32: ("relay/test_strange.py", "threat_57_what_a_relay_never_answers_is_named"),
    33: ("checking/test_faults.py", "a_fault_is_found_by_the_shortest_run"),
    34: ("flow/test_signed.py", "a_retry_after_a_lost_acknowledgement_counts_once"),
    35: ("scenarios/test_races.py", "two_honest_players_do_not_race"),
    37: ("follower/test_cycles.py", "logs_of_strangers_cost_nothing_and_blind_nobody"),
    38: ("sender/test_lanes.py", "hole_38_who_is_slower_than_a_liar_is_given_every_answer"),
    39: ("node/test_standstill.py", "threat_54_after_a_standstill_who_answers_first_ends_no_game"),
    40: ("node/test_standstill.py", "threat_54_after_a_start_who_answers_first_ends_no_game"),
    41: ("sender/test_crowd.py", "hole_41_what_a_look_has_no_time_for_is_done_by_the_next_ones"),
    42: ("follower/test_slow_endpoint.py", "many_channels_that_end_between_two_looks_blind_nobody"),
    43: ("follower/test_cycles.py", "who_is_far_behind_catches_up_while_a_challenge_is_seen"),
    44: ("follower/test_cycles.py", "a_channel_that_is_added_throws_nothing_away"),
    45: ("cli/test_streams.py", "a_player_whose_output_fails_answers_and_is_paid"),
    46: ("cli/test_play_another_chain.py", "threat_97_another_chain_for_a_while_is_told_and_waited_out"),
    47: ("watchtower/test_watching.py", "threat_95_sixteen_channels_of_one_client_are_answered_in_one_block"),
    48: ("sender/test_allowances.py", "threat_98_approvals_without_effect_are_told_and_come_to_an_end"),
    49: ("sender/test_endpoints.py", "threat_48_an_endpoint_that_rests_is_asked_again_wherever_the_clock_is_set"),
    50: ("cli/test_open_page.py", "no_other_user_of_the_machine_learns_the_address"),
    51: ("node/test_hosted.py", "hole_51_a_channel_lives_where_the_endpoint_lacks_what_not_all_have"),
    52: ("chain/test_genuine.py", "a_chain_without_transient_storage_gets_no_deployment"),
    53: ("protocol/test_machine_after_an_end.py", "threat_103_who_has_signed_an_end_challenges"),
    54: ("protocol/test_told_is_paid.py", "threat_104_what_is_told_is_what_was_paid_whenever_she_looked"),
    55: ("sender/test_blocked.py", "hole_55_what_no_block_takes_holds_up_no_answer"),
    56: ("cli/test_play_rationed.py", "a_game_is_played_disputed_and_paid_at_a_few_requests_a_second"),
    57: ("store/test_files.py", "threat_101_nothing_is_believed_that_went_to_a_file_without_a_name"),
}
"""By number: the file, and how the test's name begins."""


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("number", HOLES)
def test_each_hole_has_a_test(number: int) -> None:
    file, name = HOLES[number]
    assert any(each.startswith(f"test_{name}") for each in names_in(file))


def test_none_is_left_out() -> None:
    assert [*HOLES] == [number for number in range(21, 58) if number != 36]
