"""Games from other distributions: found as an installer left them, deployed, verified, played and inspected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forcemove.chain.local import AnvilChain, local_keys
from forcemove.keys.key_files import write_key_file
from tests.installed import CONTRACTS, GAMES
from tests.plugin.distribution import Environment, Ran

PASSPHRASE = "long enough for a test"  # noqa: S105  # it opens a key that everybody knows


@pytest.fixture
def anvil() -> Iterator[AnvilChain]:
    with AnvilChain() as chain:
        yield chain


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setenv("FORCEMOVE_PASSPHRASE", PASSPHRASE)
    for folder in ("site", "work"):
        (tmp_path / folder).mkdir()
    write_key_file(tmp_path / "work" / "a.key", local_keys()[0], PASSPHRASE, scrypt_work=2**4)
    return Environment(tmp_path / "site", tmp_path / "work")


def deploy(environment: Environment, chain: AnvilChain, *options: str) -> dict[str, Any]:
    ran = environment("deploy", "--chain", chain.endpoint, "--key", "a.key", "--json", *options)
    assert ran.code == 0, ran.err
    book: dict[str, Any] = json.loads(ran.out)
    return book


def verify(environment: Environment, chain: AnvilChain) -> tuple[Ran, dict[str, Any]]:
    return (
        environment("verify", "--chain", chain.endpoint),
        json.loads(environment("verify", "--chain", chain.endpoint, "--json").out),
    )


# ------------------------------------------------------------------------------------------------ a game from elsewhere


def test_a_game_that_is_installed_later_is_added_to_the_book_and_played(
    environment: Environment, anvil: AnvilChain
) -> None:
    before = deploy(environment, anvil)
    environment.install_counting()

    said, found = verify(environment, anvil)
    assert (said.code, found["genuine"], found["notDeployed"]) == (0, True, ["CountingApp"])
    assert "CountingApp: not deployed; `forcemove deploy` adds it" in said.out

    after = deploy(environment, anvil)
    entry = after["contracts"].pop("CountingApp")
    assert after == before
    assert entry["game"] == {"name": "counting", "distribution": "counting-game 1.2", "compilerVersion": "0.8.37"}
    sources = json.loads((environment.work / entry["standardJson"]).read_text())["sources"]
    assert "contracts/test/CountingApp.sol" in sources

    said, found = verify(environment, anvil)
    assert (said.code, found["genuine"], found["notDeployed"], found["unknown"]) == (0, True, [], [])

    played = environment(
        *("demo", "--game", "counting", "--seats", "3", "--scenario", "honest", "--json", "--save", "states"),
        *("--chain", anvil.endpoint, "--key", "a.key"),
    )
    (story,) = json.loads(played.out)["scenarios"]
    assert (played.code, story["game"], len(story["players"])) == (0, "counting", 3)
    assert (story["balancesAsExpected"], story["asExpected"]) == (True, True)

    state = environment("inspect", "states/counting-1-turn-8.json", "--chain", anvil.endpoint, "--json")
    finding = json.loads(state.out)
    assert (finding["app"]["game"], finding["app"]["knownBy"]) == ("counting", "code")
    assert finding["position"]["description"] == "Participant 2 said 3. Participant 0's turn to say 4."
    assert finding["position"]["data"] == {"type": "NumberSaid", "count": "3"}
    channel = json.loads(environment("inspect", story["channelId"], "--chain", anvil.endpoint, "--json").out)
    assert channel["closed"]


def test_a_deployment_of_one_game_leaves_the_others_out(environment: Environment, anvil: AnvilChain) -> None:
    environment.install_counting()
    book = deploy(environment, anvil, "--game", "counting")
    assert set(book["contracts"]) == {"Adjudicator", "CountingApp"}

    some = GAMES[0]
    book = deploy(environment, anvil, "--game", some.name)
    assert set(book["contracts"]) == {"Adjudicator", "CountingApp", some.artifact.name}

    said, found = verify(environment, anvil)
    assert (said.code, found["genuine"]) == (0, True)
    assert found["notDeployed"] == [game.artifact.name for game in GAMES[1:]]


def test_a_book_with_a_game_that_is_not_installed_serves_for_the_others(
    environment: Environment, anvil: AnvilChain
) -> None:
    environment.install_counting()
    book = deploy(environment, anvil)
    environment.uninstall("counting-game")

    said, found = verify(environment, anvil)
    assert (said.code, found["genuine"], found["unknown"]) == (0, True, ["CountingApp"])
    assert "CountingApp: of a game that is not installed" in said.out
    assert "Install the game counting (it was deployed with counting-game 1.2) to verify it." in said.out
    assert "Everything else is genuine. CountingApp cannot be checked here." in said.out

    assert deploy(environment, anvil) == book, "what cannot be told is kept"
    played = environment(
        *("demo", "--game", GAMES[0].name, "--scenario", "honest", "--json"),
        *("--chain", anvil.endpoint, "--key", "a.key"),
    )
    assert played.code == 0
    refused = environment("demo", "--game", "counting")
    assert refused.code == 1
    assert "There is no game 'counting'" in refused.err


def test_what_the_book_says_of_an_unknown_contract_must_hold_in_itself(
    environment: Environment, anvil: AnvilChain
) -> None:
    environment.install_counting()
    book = deploy(environment, anvil)
    environment.uninstall("counting-game")
    book["contracts"]["CountingApp"]["address"] = book["contracts"]["Adjudicator"]["address"]
    (environment.work / "forcemove-31337.json").write_text(json.dumps(book))

    said, found = verify(environment, anvil)
    assert (said.code, found["genuine"]) == (1, False)
    assert "CountingApp: different" in said.out


# ------------------------------------------------------------------------------------------------------------ disputes


@pytest.mark.parametrize("scenario", ["stall", "stale-state", "cheat"])
def test_the_disputes_are_told_of_any_game_for_two(environment: Environment, scenario: str) -> None:
    """Of one, too, that nobody wins and that ends only when somebody wants to leave."""
    environment.install_counting()
    played = environment("demo", "--game", "counting", "--scenario", scenario, "--json")
    (story,) = json.loads(played.out)["scenarios"]
    assert (played.code, story["balancesAsExpected"], story["asExpected"]) == (0, True, True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--scenario", "stall", "--seats", "3"), "stall is for two players: leave --seats out."),
        (("--seats", "5"), "Nothing can be played with 5 players: counting is for 2, 3, 4."),
    ],
)
def test_what_a_game_cannot_have_is_refused(environment: Environment, options: tuple[str, ...], why: str) -> None:
    environment.install_counting()
    refused = environment("demo", "--game", "counting", *options)
    assert refused.code == 2
    assert why in " ".join(refused.err.split())


def test_a_number_of_players_that_a_game_does_not_take_is_not_offered_over_a_relay(environment: Environment) -> None:
    environment.install_counting()
    trio = "from counting_game import Counting\nGAME = type('Trio', (Counting,), {'name': 'trio', 'seats': (3, 4)})()\n"
    (environment.site / "trio.py").write_text(trio)
    environment.announce("trio-game", "1.0", trio="trio:GAME")
    play = ("play", "trio", "--relay", "ws://127.0.0.1:1", "--key", "a.key", "--create", "--bot", "--stake", "0")
    refused = environment(*play, "--seats", "2")
    assert refused.code == 2
    assert "trio takes 3 or 4 players, not 2." in " ".join(refused.err.split())


# ----------------------------------------------------------------------------------------------- what can be wrong with

BROKEN = {
    "no_module": ("nowhere:GAME", "nowhere:GAME cannot be loaded (ModuleNotFoundError: No module named 'nowhere')"),
    "no_value": ("broken:NOTHING", "broken:NOTHING cannot be loaded (AttributeError: "),
    "no_import": ("raising:GAME", "raising:GAME cannot be loaded (ValueError: as it wants)"),
    "no_game": ("broken:GAME", "broken:GAME is not a Game: it lacks artifact, board, bot, choices"),
    "other_name": ("counting_game:GAME", "its name is 'counting'"),
    "no_artifact": ("broken:TEXT", "its artifact is not a forcemove.artifact.Artifact"),
    "adjudicator": ("broken:ADJUDICATOR", "its contract is named Adjudicator"),
    "no_seats": ("broken:ONE", "its seats are (1,) instead of rising numbers from 2 to 8"),
    "free": ("broken:FREE", "its dispute gas is 0 instead of a number above 0"),
    "falling": ("broken:FALLING", "its seats are (3, 2) instead of rising numbers from 2 to 8"),
}
BROKEN_MODULE = """
from counting_game import Counting
from forcemove.contracts import artifact

class Nothing:
    name = "no-game"
    description = "not a game"

def changed(name, **changes):
    return type("Changed", (Counting,), {"name": name, **changes})()

GAME = Nothing()
TEXT = changed("no-artifact", artifact="CountingApp")
ADJUDICATOR = changed("adjudicator", artifact=artifact("Adjudicator"))
ONE = changed("no-seats", seats=(1,))
FREE = changed("free", dispute_gas=0)
FALLING = changed("falling", seats=(3, 2))
"""


def test_a_game_that_cannot_be_used_is_named_with_its_distribution_and_the_others_go_on(
    environment: Environment, anvil: AnvilChain
) -> None:
    environment.install_counting()
    (environment.site / "broken.py").write_text(BROKEN_MODULE)
    (environment.site / "raising.py").write_text("raise ValueError('as it wants')\n")
    environment.announce("bad-games", "0.3", **{name: value for name, (value, _) in BROKEN.items()})

    ran = environment("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--json")
    assert ran.code == 0
    assert set(json.loads(ran.out)["contracts"]) == {*CONTRACTS, "CountingApp"}
    for name, (_, reason) in BROKEN.items():
        warning = f"Warning: The game {name.replace('_', '-')} of the distribution bad-games 0.3 cannot be used: "
        (line,) = [line for line in ran.err.splitlines() if line.startswith(warning)]
        assert reason in line
    asked = environment("demo", "--game", "no-module")
    assert asked.code == 1
    assert "Error: The game no-module of the distribution bad-games 0.3 cannot be used" in asked.err
    assert "Update that distribution, uninstall it, or tell its author" in asked.err


def test_a_name_that_two_distributions_use_stands_for_neither(environment: Environment) -> None:
    environment.install_counting()
    environment.announce("other-counting", "2.0", counting="counting_game:GAME")

    asked = environment("demo", "--game", "counting")
    assert asked.code == 1
    assert "Several distributions have a game counting: counting-game 1.2, other-counting 2.0." in asked.err
    assert "Uninstall all but one of them" in asked.err
    other = environment("demo", "--game", GAMES[0].name, "--scenario", "honest", "--json")
    assert other.code == 0


def test_two_different_contracts_of_one_name_are_told_apart_by_nobody(
    environment: Environment, anvil: AnvilChain
) -> None:
    environment.install_counting()
    (environment.site / "look_alike.py").write_text(
        "from dataclasses import replace\n"
        "from counting_game import Counting\n"
        "class Other(Counting):\n"
        "    name = 'other-counting'\n"
        "    artifact = replace(Counting.artifact, creation_code_hash=bytes(32))\n"
        "GAME = Other()\n"
    )
    environment.announce("look-alike", "1.0", other_counting="look_alike:GAME")

    ran = environment("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--json")
    assert set(json.loads(ran.out)["contracts"]) == set(CONTRACTS)
    for game in ("counting", "other-counting"):
        assert f"The game {game} cannot be used: several distributions have a contract CountingApp" in ran.err
    refused = environment("deploy", "--chain", anvil.endpoint, "--key", "a.key", "--game", "counting")
    assert refused.code == 1
