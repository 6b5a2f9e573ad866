"""The benchmark measures what its rows say. Whether targets are met, `scripts/benchmark.py --check` tells."""

from __future__ import annotations

import json
import subprocess
import sys

from forcemove.protocol.encoding import digest
from forcemove.protocol.signing import public_key_address, require_signer
from forcemove_games.views import filter_state, play_action, replay_action
from scripts.bare_signing import bare_recover, bare_sign
from scripts.benchmark import RATIOS, ROOT, TARGETS, Game, Hall, missed
from scripts.node_speed import begin, opened, play_two_turns, signed_last
from tests.simulation.chain import MemoryChain

ROWS = {
    "state_sign_ratio",
    "state_verify_ratio",
    "turn_ratio",
    "eth_account_sign_ratio",
    "view_replay_ratio",
    "view_filter_ratio",
    "view_play_ratio",
    "parity_seconds",
    "queue_actions_per_second",
    "signed_queue_actions_per_second",
    "sra_shuffle_seconds",
    "shuffle_prove_ms",
    "shuffle_verify_ms",
    "discard_set_up_ms",
    "discard_turn_ms",
    "durable_turn_ratio",
    "durable_turn_bare_ratio",
    "channel_cost_growth",
    "requests_per_block",
    "requests_per_block_of_two",
    "requests_per_turn",
    "tower_appointment_ms",
    "tower_idle_poll_ms",
    "relay_rate_ratio",
    "relay_moves_per_second",
    "relay_move_spread",
    "jetstream_rate_ratio",
    "network_turn_ratio",
    "commit_ratio",
    "history_commit_ratio",
    "channel_list_ms",
    "overview_ms",
    "panels_ms",
    "page_kilobytes",
    "click_to_counterparty_ms",
    "help_seconds",
    "demo_seconds",
}

MORE_IS_BETTER = {
    "eth_account_sign_ratio",
    "queue_actions_per_second",
    "signed_queue_actions_per_second",
    "relay_rate_ratio",
    "relay_moves_per_second",
    "jetstream_rate_ratio",
}


def test_the_rows_are_those_of_the_targets() -> None:
    assert set(TARGETS) == ROWS


def test_the_rows_that_are_asked_for_are_printed_as_json() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "benchmark.py"), "--json", "--rounds", "1", "--only", *RATIOS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    rows = json.loads(done.stdout)["rows"]
    assert list(rows) == list(RATIOS)
    assert min(rows.values()) > 0


def test_a_row_is_missed_on_the_wrong_side_of_its_target() -> None:
    bounds = {row: target.bound for row, target in TARGETS.items()}
    assert missed(bounds) == []
    assert set(missed({row: bound * 1.01 for row, bound in bounds.items()})) == ROWS - MORE_IS_BETTER
    assert set(missed({row: bound * 0.99 for row, bound in bounds.items()})) == MORE_IS_BETTER


def test_a_replay_plays_every_turn_and_signs_every_reply() -> None:
    game = Game(6)
    end = game.replay()
    assert len(game.inputs) == 2 * 6
    assert game.last.turn_num == 4 + 2 * 6 - 1
    assert end.last_signed == (game.last.turn_num - 1, end.accepted[-2].hashes.state)
    assert end.accepted[-1].state == game.last
    for accepted in end.accepted:
        ((index, signature),) = accepted.signed.signatures.items()
        require_signer(
            digest(game.domain, accepted.hashes.state), signature, game.opened.agreement.fixed_part.participants[index]
        )


def test_a_durable_turn_is_compared_with_its_own_signatures_and_recoveries() -> None:
    with opened(1, MemoryChain()) as nodes:
        begin(nodes, 4)
        play_two_turns(nodes)
        play_two_turns(nodes)
        channel = nodes.nodes[0].channels[nodes.assemblies[0].agreement.channel_id].channel
        assert [each.state.turn_num for each in channel.accepted] == [4, 5, 6]
        for key, ready, signature in signed_last(channel):
            assert bare_sign(key, ready) == signature
            assert bare_recover(ready, signature) == public_key_address(key.public_key.format())


def test_the_viewed_state_is_as_large_as_its_rows_say() -> None:
    state = Hall().state
    assert 98_000 < len(json.dumps(state)) < 102_000
    assert 8_400 < count(state) < 8_600


def count(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count, inner))


def test_an_action_changes_one_field_of_each_of_two_views() -> None:
    hall = Hall()
    result, new_infos = play_action(hall, hall.state, {"line": 5})
    assert list(new_infos) == ["player-0", "player-1"]
    for viewer, new_info in new_infos.items():
        assert new_info == [[{"op": "replace", "path": "/log/5/seen", "value": True}]]
        view = filter_state(hall, hall.state, viewer)
        assert replay_action(hall, view, {"line": 5}, new_info) == filter_state(hall, result, viewer)
