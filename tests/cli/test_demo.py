"""The demonstration, as a user runs it: each scenario on the embedded chain, a part on a real anvil, and bad flags."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forcemove.arena.balances import BalanceCheck
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.cli.demo.planning import planned_scenarios
from forcemove.cli.errors import run
from forcemove.cli.main import forcemove
from forcemove.cli.terminal import Terminal
from forcemove.demo import environment
from forcemove.demo.environment import counterparty_key
from forcemove.demo.output import DemoOutput
from forcemove.demo.results import ScenarioResult
from forcemove.game import PlayerChecked
from forcemove.keys.key_files import write_key_file
from forcemove.protocol.codec.wire import decode_file
from forcemove.protocol.types import ETHER
from forcemove.text.amounts import format_amount
from tests.cli.command import Command
from tests.installed import GAMES, GAMES_FOR_TWO
from tests.protocol.table import agreement_for
from tests.sampled import sampled

NAMES = [game.name for game in GAMES_FOR_TWO]
SCENARIOS = ("honest", "stall", "stale-state", "cheat")
CHECKED = ("bad-share", "bad-shuffle")


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(forcemove, ["demo", *arguments], standalone_mode=False)


FOR_MORE = [("honest", game.name, min(game.seats)) for game in GAMES if game not in GAMES_FOR_TWO]
"""The disputes that are shown are for two."""


@pytest.mark.parametrize(
    ("scenario", "game", "seats"),
    [*sampled([*product(SCENARIOS, NAMES, [2])], every=len(NAMES) + 1), *FOR_MORE],
)
def test_a_story_ends_with_the_expected_balances(game: str, scenario: str, seats: int) -> None:
    result = demo("--game", game, "--scenario", scenario)
    assert result.return_value == 0
    assert result.output.count("found, as expected") == seats
    assert "WRONG" not in result.output


def test_without_flags_all_games_are_played_honestly_and_then_each_dispute() -> None:
    scenarios = [(game.name, scenario, seats) for scenario, game, seats in planned_scenarios(None, None, None)]
    honest, disputes = scenarios[: len(GAMES)], scenarios[len(GAMES) :]
    assert sorted(honest) == sorted((game.name, "honest", min(game.seats)) for game in GAMES)
    assert honest[0][0] == "tic-tac-toe"
    assert honest[-1][0] == "discard"
    every = [(name, 2) for name in SCENARIOS[1:]]
    assert [(scenario, seats) for _, scenario, seats in disputes[: len(every)]] == every
    checked = [(game.name, name, 2) for game in GAMES if isinstance(game, PlayerChecked) for name in CHECKED]
    assert disputes[len(every) :] == checked


@pytest.mark.slow
def test_of_all_games_the_first_one_is_shown_turn_by_turn_and_the_others_in_short() -> None:
    result = demo()
    assert result.return_value == 0
    first, *others, _ = result.output.strip().split("\n\n")
    assert "turn    4 " in first
    assert "---+---+---" in first
    for each in others:
        assert "\nturn " not in each
        assert "deposits (" not in each
        assert "states were signed off chain." in each
    assert len(result.output.splitlines()) <= 150


@pytest.mark.parametrize(("found", "shown"), [(1, "found, WRONG"), (0, "0 states were signed off chain.")])
def test_in_short_a_wrong_balance_is_shown_all_the_same(
    found: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    player = BalanceCheck("Alice", bytes(20), ETHER, before=0, deposit=1, due=1, gas_cost=0, found=found)
    output = DemoOutput(Terminal().say, Terminal().status, is_full=False)
    output.result(ScenarioResult("game", "honest", agreement_for(GAMES[0]), 1, (player,), (), True, True))
    assert shown in capsys.readouterr().out


def test_in_full_every_turn_and_balance_is_shown() -> None:
    result = demo("--scenario", "honest", "--full")
    assert result.output.count("turn    4 ") == len(GAMES)
    assert result.output.count("found, as expected") == sum(min(game.seats) for game in GAMES)


@pytest.mark.parametrize(
    ("scenario", "caught"),
    [
        (
            "bad-share",
            "Caught by the contract, and by Alice's client before: the share had no proof that holds. It cost",
        ),
        ("bad-shuffle", "Caught by Alice's player, not by the contract, which lets it pass: Bob has sent a deck that"),
    ],
)
def test_who_cheats_with_cards_is_caught_and_a_line_says_by_whom(scenario: str, caught: str) -> None:
    result = demo("--game", "discard", "--scenario", scenario)
    assert result.return_value == 0
    assert caught in result.output
    loses = "Alice wins 0.2 ether; Bob loses 0.2 ether." if scenario == "bad-share" else "Alice is even; Bob is even."
    assert loses in result.output
    assert result.output.count("found, as expected") == 2


def test_a_game_that_its_contract_judges_alone_has_no_such_scenarios() -> None:
    result = demo("--game", "tic-tac-toe", "--scenario", "bad-shuffle")
    assert "No game that can be played here has moves that only its players judge" in str(result.exception)


def test_the_results_can_be_read_by_a_program() -> None:
    result = demo("--json", "--scenario", "honest", "--game", "tic-tac-toe")
    assert result.exception is None
    content = json.loads(result.output)
    assert content["error"] is None
    (story,) = content["scenarios"]
    assert (story["game"], story["scenario"], story["balancesAsExpected"]) == ("tic-tac-toe", "honest", True)


def test_it_shows_board_shares_gas_and_the_clock() -> None:
    output = demo("--game", "tic-tac-toe", "--scenario", "stall").output
    for text in ("---+---+---", "if it ended now: Alice", "gas)", "3600 seconds to answer"):
        assert text in output


def test_a_cheat_is_refused_by_client_and_chain() -> None:
    output = demo("--game", "tic-tac-toe", "--scenario", "cheat").output
    assert "sends a final state with a forged signature: the signature is somebody else's (WrongSigner: " in output
    assert output.count("gives it to the chain: ") == 4


def test_it_is_played_for_a_token() -> None:
    result = demo("--asset", "token", "--scenario", "honest", "--game", "tic-tac-toe")
    assert result.return_value == 0
    assert "DEMO found, as expected" in result.output


def test_the_stake_is_a_fifth_of_the_deposits() -> None:
    output = demo("--stake", "30 gwei", "--scenario", "honest", "--game", "tic-tac-toe").output
    assert f"Alice {format_amount(180 * 10**9)}, Bob {format_amount(120 * 10**9)}" in output


def test_saved_states_can_be_read_again(tmp_path: Path) -> None:
    demo("--save", str(tmp_path / "states"), "--scenario", "honest", "--game", "tic-tac-toe")
    states = [decode_file(path.read_text("utf-8")).signed.state for path in (tmp_path / "states").iterdir()]
    assert {state.turn_num for state in states} == set(range(max(state.turn_num for state in states) + 1))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--game", "chess"], "There is no game 'chess'"),
        (["--scenario", "win"], "is not one of"),
        (["--stake", "lots"], "is not an amount"),
        (["--stake", "-1"], "is not an amount"),
        (["--stake", "0.5 wei"], "is not an amount"),
        (["--duration", "59"], "is not in the range"),
        (["--chain", "http://127.0.0.1:1"], "wants --key FILE"),
        (["--chain", "http://127.0.0.1:1", "--key", "nowhere.json"], "Nobody answers"),
    ],
)
def test_bad_flags_are_explained(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(lambda: forcemove(["demo", *arguments], standalone_mode=False))
    assert code != 0
    error = capsys.readouterr().err
    assert complaint in error
    assert "Traceback" not in error


@pytest.mark.parametrize("chain", ["eth-tester", "anvil"])
@pytest.mark.parametrize("options", [("--key", "k.json"), ("--book", "book.json"), ("--allow-mainnet",)])
def test_what_is_about_a_node_is_wrong_usage_on_a_chain_of_its_own(
    forcemove: Command, tmp_path: Path, chain: str, options: tuple[str, ...]
) -> None:
    said = forcemove("demo", "--chain", chain, *options)
    assert said.code == 2
    assert f"ends with this command: leave {options[0]} out." in said.err
    assert list(tmp_path.iterdir()) == []


def test_wrong_balances_are_an_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    honest = environment.DemoEnvironment.balance
    monkeypatch.setattr(environment.DemoEnvironment, "balance", lambda *arguments: honest(*arguments) // 2)
    code = run(lambda: forcemove(["demo", "--scenario", "honest", "--game", "tic-tac-toe"], standalone_mode=False))
    assert code == 1
    assert "did not end as they must" in capsys.readouterr().err


def test_on_a_node_the_key_files_account_pays_and_gets_the_rest_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", "correct horse")
    payer = local_keys()[0]
    write_key_file(tmp_path / "alice.json", payer, "correct horse", scrypt_work=2**4)
    with AnvilChain("--block-time", "1") as chain:
        result = demo("--chain", chain.endpoint, "--key", "alice.json", "--scenario", "stale-state", "--game", NAMES[1])
        assert result.return_value == 0
        rest = chain.balance(counterparty_key(payer).address)
    assert rest < 10**15
    assert (tmp_path / "forcemove-31337.json").exists()
