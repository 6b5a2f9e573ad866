"""The cases of `scripts/measure` measure what their rows say. What comes of it, `scripts/measure --check` tells."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from forcemove.protocol.encoding import digest
from forcemove.protocol.signing import public_key_address, require_signer
from forcemove_games.views import filter_state, play_action, replay_action
from scripts.measuring.__main__ import main
from scripts.measuring.cases import CASES, KEYS, LongGame, Measured, Row, case
from scripts.measuring.signing import bare_recover, bare_sign
from scripts.measuring.turns import opened, play_two_turns, signed_last
from scripts.measuring.views import Hall
from tests.simulation.chain import MemoryChain

BOUNDED = {
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
    "1000_idle_minute_cpu_s",
    "10000_idle_minute_cpu_s",
    "1000_idle_resumed_channel_cpu_ms",
    "opening_s",
    "tower_appointment_ms",
    "tower_idle_poll_ms",
    "tower_lost",
    "relay_rate_ratio",
    "relay_moves_per_second",
    "relay_move_spread",
    "jetstream_rate_ratio",
    "network_turn_ratio",
    "commit_ratio",
    "a_channel_more_us",
    "history_commit_ratio",
    "channel_list_ms",
    "overview_ms",
    "panels_ms",
    "page_kilobytes",
    "click_to_counterparty_ms",
    "link_page_megabytes",
    "link_page_seconds",
    "link_page_slowed_seconds",
    "link_page_click_ms",
    "link_page_flush_ms",
    "link_page_cards_seconds",
    "link_page_tab_megabytes",
    "help_seconds",
    "demo_seconds",
}
"""Besides the gas."""
AT_LEAST = {
    "eth_account_sign_ratio",
    "queue_actions_per_second",
    "signed_queue_actions_per_second",
    "relay_rate_ratio",
    "relay_moves_per_second",
    "jetstream_rate_ratio",
}


def written(found: Measured) -> None:
    WRITTEN.append(found)


WRITTEN: list[Measured] = []


@pytest.fixture(autouse=True)
def answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A case that yields what it is told."""

    @case(Row("truth", "x", "what is asked", 42), write=written)
    def answer(value: int = 40, places: str = "") -> Measured:
        """The answer, at once.

        More about it.
        """
        return {"truth": value, f"{len(places)}_places_ms": 1.5}

    yield
    del CASES["answer"]
    WRITTEN.clear()


# ---------------------------------------------------------------------------------------------------------- the program


def test_every_row_with_a_bound_is_of_one_case() -> None:
    others = [each for name, each in CASES.items() if name not in ("gas", "gas_amsterdam", "answer")]
    rows = [row for each in others for row in each.rows.values()]
    assert len(rows) == len(BOUNDED)
    assert {row.name for row in rows} == BOUNDED
    assert {row.name for row in rows if row.at_least} == AT_LEAST
    assert all(row.bound is not None and row.meaning for row in rows)


def test_a_bound_is_missed_on_its_wrong_side() -> None:
    for each in CASES.values():
        for row in each.rows.values():
            bound = row.bound or 0
            assert row.holds(bound)
            assert row.holds(bound + 1) == row.at_least
            assert row.holds(bound - 1) != row.at_least


def test_every_case_is_listed_with_a_sentence_its_options_and_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "answer: The answer, at once. [--value 40] [--places ]" in lines
    heads = [line.split(": ", 1) for line in lines if not line.startswith(" ")]
    assert [name for name, _ in heads] == list(CASES)
    assert [name for name, sentence in heads if not sentence.split(" [")[0].endswith(".")] == []
    (row,) = [line.split() for line in lines if line.startswith("    truth ")]
    assert row == ["truth", "x", "<=", "42", "what", "is", "asked"]


def test_what_is_measured_is_printed_with_its_unit_and_its_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--places", "abc"]) == 0
    said = capsys.readouterr()
    words = [line.split()[:3] for line in said.out.splitlines()]
    assert words == [["truth", "40.00", "x"], ["3_places_ms", "1.50", "ms"]]
    assert "MISSED" not in said.out
    assert said.err == "answer: The answer, at once.\n"
    assert WRITTEN == []


def test_as_json_each_row_says_whether_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--json", "--value", "43"]) == 0
    said = capsys.readouterr()
    truth = {"value": 43, "unit": "x", "atMost": 42, "holds": False}
    assert json.loads(said.out) == {"rows": {"truth": truth, "0_places_ms": {"value": 1.5, "unit": "ms"}}}
    assert said.err.endswith("1 of 2 rows miss their bounds: truth\n")


def test_a_missed_bound_fails_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--check"]) == 0
    assert main(["answer", "--check", "--value", "43"]) == 1
    assert "MISSED" in capsys.readouterr().out


def test_what_was_measured_is_written_where_that_is_asked_for() -> None:
    assert main(["answer", "--write", "--value", "7"]) == 0
    assert WRITTEN == [{"truth": 7, "0_places_ms": 1.5}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["question"], "there is no case question: see --list"),
        (["answer", "--rounds", "3"], "none of these cases has --rounds"),
        (["answer", "--value", "0"], "--value must be more than 0"),
        (["commit", "--write"], "no page shows commit"),
        (["answer", "--value", "many"], "argument --value: invalid int value: 'many'"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert capsys.readouterr().err.endswith(f"scripts/measure: error: {problem}\n")


def test_ratios_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signing", "views", "--json", "--rounds", "1"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert set(rows) == {*CASES["signing"].rows, *CASES["views"].rows}
    assert min(row["value"] for row in rows.values()) > 0


def test_nodes_ask_little_of_an_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["node_requests", "--check", "--channels", "20"]) == 0
    assert main(["adding", "--json", "--channels", "1"]) == 0
    assert main(["adding", "--json", "--channels", "100"]) == 0
    assert capsys.readouterr().out.count('"adding_requests": {\n   "value": 4,') == 2


# ------------------------------------------------------------------------------------------------- what they measure


def test_a_replay_plays_every_turn_and_signs_every_reply() -> None:
    game = LongGame(6)
    end = game.replay()
    agreed = game.opened.agreement
    assert len(game.inputs) == 2 * 6
    assert end == game.channels()[-1]
    last = end.accepted[-1].state.turn_num
    assert last == 4 + 2 * 6 - 1
    assert end.last_signed == (last - 1, end.accepted[-2].hashes.state)
    for accepted in end.accepted:
        ((seat, signature),) = accepted.signed.signatures.items()
        require_signer(digest(agreed.domain, accepted.hashes.state), signature, KEYS[seat].address)


def test_a_durable_turn_is_compared_with_its_own_signatures_and_recoveries() -> None:
    with opened(1, MemoryChain()) as nodes:
        nodes.begin(4)
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
