"""Friendly games over a relay: no chain, no stake; the same rules, killed and resumed."""

from __future__ import annotations

import asyncio
import signal

import pytest

from forcemove.chain.addresses import show_address
from forcemove.text.names import full_name
from forcemove.transport.links import LINK_HEAD, parse_link
from forcemove.transport.websocket.connection import RelayConnection
from tests.cli.nodes import held_at, wait_until
from tests.cli.tables import GUEST, HOST, House, link_of
from tests.relay.process import RelayProcess

CREATE = ("--create", "--stake", "0")


@pytest.mark.parametrize("game", ["rock-paper-scissors", "tic-tac-toe"])
def test_two_bots_play_for_nothing(house: House, game: str) -> None:
    host = house.play(house.alice, *CREATE, game=game)
    guest = house.play(house.bob, "--join", link_of(host), "--yes", game=game)
    assert host.end() == 0, host.complained
    assert guest.end() == 0, guest.complained
    ours, theirs = house.channel(house.alice), house.channel(house.bob)
    assert ours.newest is not None
    assert theirs.newest is not None
    assert ours.newest.state == theirs.newest.state
    assert set(ours.newest.signed.signatures) == {0, 1}
    assert (ours.agreement.domain.chain_id, ours.agreement.domain.adjudicator) == (0, bytes(20))
    for player, home in ((host, house.alice), (guest, house.bob)):
        assert "a friendly game, without a chain" in player.said
        assert "Nothing was at stake" in player.said
        assert house.meetings(home) == 0


def test_the_list_of_channels_has_the_counterpartys_name(house: House) -> None:
    held = held_at("turn to reveal")
    host = house.play(house.alice, *CREATE, "--name", "Ann", game="rock-paper-scissors", before=held)
    guest = house.play(house.bob, "--join", link_of(host), "--yes", game="rock-paper-scissors")
    guest.reach("turn to reveal")
    for player in (host, guest):
        player.end(by=signal.SIGKILL)
    for home, called in ((house.bob, full_name("Ann", HOST.address)), (house.alice, full_name("", GUEST.address))):
        listed = house.run(home, "channel", "list", "--store", "forcemove.journal")
        assert listed.end() == 0, listed.complained
        assert called in listed.said


@pytest.mark.parametrize("killed", ["host", "guest"])
def test_a_killed_player_goes_on_with_the_same_command(house: House, killed: str) -> None:
    create, rounds = (*CREATE, "--rounds", "4"), ("--rounds", "4")
    held = held_at("turn to reveal")
    host = house.play(house.alice, *create, game="rock-paper-scissors", before=held if killed == "host" else "")
    join = ("--join", link_of(host), *rounds, "--yes")
    guest = house.play(house.bob, *join, game="rock-paper-scissors", before=held if killed == "guest" else "")
    first, other = (host, guest) if killed == "host" else (guest, host)
    first.reach("turn to reveal")
    assert first.end(by=signal.SIGKILL) == -signal.SIGKILL
    home, again = (house.alice, create) if killed == "host" else (house.bob, join)
    second = house.play(home, *again, game="rock-paper-scissors")
    assert second.end() == 0, second.complained
    assert other.end() == 0, other.complained
    channel = house.channel(house.alice)
    assert channel.newest is not None
    assert channel.newest.state.turn_num == 4 + 4 * 4 - 1


def test_who_waits_for_somebody_that_is_gone_puts_the_game_away(house: House) -> None:
    held = held_at("turn to reveal")
    guest = house.play(house.alice, *CREATE, "--move-time", "2", game="rock-paper-scissors", before=held)
    person = house.sit(house.bob, "--join", link_of(guest), "--yes", game="rock-paper-scissors")
    person.answer("rock", "rock")
    guest.reach("turn to reveal")
    guest.end(by=signal.SIGKILL)
    person.answer("It is out: you can put the game away", "put-away")
    shown = person.end()
    assert shown.code == 0, shown.lines
    assert "You have put the game away, unfinished. Nothing was at stake." in " ".join(" ".join(shown.lines).split())
    assert house.meetings(house.bob) == 0
    listed = house.run(house.bob, "games", "--store", "forcemove.journal")
    assert listed.end() == 0, listed.complained
    assert "put away, unfinished: nothing was at stake" in listed.said


_MUTE = """
import signal
from forcemove.sessions.channel_game import ChannelGameRunner
ChannelGameRunner._say_result = lambda *_: signal.pause()
"""


@pytest.mark.parametrize("killed", ["host", "guest"])
def test_a_player_that_dies_before_it_has_told_the_end_tells_it_when_it_is_back(house: House, killed: str) -> None:
    host = house.play(house.alice, *CREATE, before=_MUTE if killed == "host" else "")
    join = ("--join", link_of(host), "--yes")
    guest = house.play(house.bob, *join, before=_MUTE if killed == "guest" else "")
    (first, other), home = ((host, guest), house.alice) if killed == "host" else ((guest, host), house.bob)
    assert other.end() == 0, other.complained
    wait_until(lambda: house.is_finished(home))
    first.end(by=signal.SIGKILL)
    second = house.play(home, *(CREATE if killed == "host" else join))
    assert second.end() == 0, second.complained
    assert "The game is over that this command has begun before." in second.said
    assert "Nothing was at stake" in second.said
    assert house.meetings(home) == 0
    if killed == "host":
        house.play(home, *CREATE).reach(LINK_HEAD)


def test_discard_is_played_over_the_log_and_both_are_killed_and_go_on(house: House) -> None:
    host = house.play(house.alice, *CREATE, game="discard-sra")
    join = ("--join", link_of(host), "--yes")
    guest = house.play(house.bob, *join, game="discard-sra")
    host.reach(" on top, ")
    for player in (host, guest):  # the guest cannot end it alone
        assert player.end(by=signal.SIGKILL) == -signal.SIGKILL
    again = [house.play(house.alice, *CREATE, game="discard-sra"), house.play(house.bob, *join, game="discard-sra")]
    for player in again:
        assert player.end() == 0, player.complained
        assert "Continuing the open game" in player.said
        assert "every turn was legal" in player.said
    results = [line for line in again[0].said.splitlines() if " after " in line]
    assert results
    assert results == [line for line in again[1].said.splitlines() if " after " in line]
    assert house.meetings(house.alice) == house.meetings(house.bob) == 0


def test_players_of_discard_are_told_who_has_which_seat(house: House) -> None:
    host = house.play(house.alice, *CREATE, "--name", "Alice", game="discard-sra")
    guest = house.play(house.bob, "--join", link_of(host), "--yes", game="discard-sra")
    assert [each.end() for each in (host, guest)] == [0, 0], (host.complained, guest.complained)
    who = f"players     Host: {full_name('Alice', HOST.address)}, Guest: {full_name('', GUEST.address)}"
    assert who in host.said
    assert who in guest.said


def test_players_with_names_are_called_by_them(house: House) -> None:
    host = house.play(house.alice, *CREATE, "--name", "Alice", game="tic-tac-toe")
    guest = house.play(house.bob, "--join", link_of(host), "--yes", "--name", "Bob", game="tic-tac-toe")
    assert [each.end() for each in (host, guest)] == [0, 0], (host.complained, guest.complained)
    who = f"players     {full_name('Alice', HOST.address)}, {full_name('Bob', GUEST.address)}"
    for player in (host, guest):
        assert who in player.said
        assert "Host" not in player.said
        assert "Guest" not in player.said
    assert "a friendly game, without a chain" in guest.said
    assert f"offered by Alice {show_address(HOST.address)}" in guest.said


def test_a_player_that_goes_on_is_shown_the_names_again(house: House) -> None:
    options = ("--rounds", "6", "--pace", "0.2")
    host = house.play(house.alice, *CREATE, *options, "--name", "Alice", game="tic-tac-toe")
    join = ("--join", link_of(host), "--yes", *options)
    guest = house.play(house.bob, *join, "--name", "Bob", game="tic-tac-toe")
    guest.reach("turn    7")
    guest.end(by=signal.SIGKILL)
    again = house.play(house.bob, *join, "--name", "Robert", game="tic-tac-toe")
    assert [each.end() for each in (host, again)] == [0, 0], (host.complained, again.complained)
    assert full_name("Bob", GUEST.address) in again.said
    assert "Robert" not in again.said


def test_a_person_plays_discard_and_is_not_asked_twice(house: House) -> None:
    host = house.sit(house.alice, *CREATE, game="discard-sra")
    guest = house.play(house.bob, "--join", host.link(), "--yes", "--patience", "60", game="discard-sra")
    host.answer("Host, it is your turn.", "0")
    host.answer("Type a number from 1 to", "1")
    host.reach("Guest d")  # discards, or draws
    host.reach("Host, it is your turn.")
    host.screen.type("\x03")
    aside = host.end()
    assert aside.code == 130
    first = next(line for line in aside.lines if line.startswith(("Host discards", "Host draws")))
    back = house.sit(house.alice, game="discard-sra")
    back.reach(first)
    back.reach("Host, it is your turn.")
    assert sum(line.startswith(("Host discards", "Host draws")) for line in back.screen.lines) == 1
    back.screen.type("\x03")
    assert back.end().code == 130
    guest.end(by=signal.SIGTERM)


def test_a_person_leaves_discard_over_a_relay(house: House) -> None:
    host = house.sit(house.alice, *CREATE, game="discard-sra")
    guest = house.play(house.bob, "--join", host.link(), "--yes", "--patience", "5", game="discard-sra")
    host.answer("Host, it is your turn.", "leave")
    left = host.end()
    assert (left.code, guest.end()) == (0, 0)
    told = "Host has left the game, after 0 turns: it counts for nobody."
    assert told in left.lines
    assert told in guest.said
    assert house.meetings(house.alice) == house.meetings(house.bob) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stake", "0", "--chain", "http://127.0.0.1:1", "--create"), "has no chain"),
        (("--stake", "1", "--create"), "A stake needs a chain"),
        (("--stake", "0", "--create", "--payout", "0x" + "11" * 20), "A friendly game pays nothing"),
        (("--stake", "0", "--create", "--wallet", "0x" + "11" * 20), "A friendly game pays nothing"),
        (("--chain", "http://127.0.0.1:1", "--create", "--stake", "1"), "No contract enforces discard-sra"),
    ],
)
def test_options_that_contradict_each_other(house: House, options: tuple[str, ...], words: str) -> None:
    player = house.play(house.alice, *options, game="discard-sra")
    assert player.end() == 2
    assert words in player.complained


def test_whoever_is_asked_to_end_withdraws_the_offer(house: House) -> None:
    host = house.play(house.alice, *CREATE, game="tic-tac-toe")
    link = link_of(host)
    assert host.end(by=signal.SIGTERM) == 143
    guest = house.play(house.bob, "--join", link, "--yes", game="tic-tac-toe")
    assert guest.end() == 1
    assert "there is no such offer any more" in guest.complained


def test_whoever_is_kept_waiting_gives_a_friendly_game_up(house: House) -> None:
    host = house.play(house.alice, *CREATE, "--patience", "2", "--rounds", "20", game="rock-paper-scissors")
    join, held = ("--join", link_of(host), "--yes", "--rounds", "20"), held_at("turn to reveal")
    guest = house.play(house.bob, *join, game="rock-paper-scissors", before=held)
    guest.reach("turn to reveal")
    guest.end(by=signal.SIGKILL)
    assert host.end() == 1
    assert "for 2 seconds" in host.complained
    assert "The other player may have gone" in host.complained


def test_whoever_is_kept_waiting_gives_up_a_game_over_the_log_and_may_wait_on(house: House) -> None:
    host = house.play(house.alice, *CREATE, "--patience", "2", game="discard-sra")
    link = link_of(host)
    guest = house.play(house.bob, "--join", link, "--yes", game="discard-sra")
    guest.reach("You are the guest.")
    guest.end(by=signal.SIGKILL)
    assert host.end() == 1
    assert "Nothing has been heard from the other player for 2 seconds." in host.complained
    again = house.play(house.alice, game="discard-sra")
    other = house.play(house.bob, "--join", link, "--yes", game="discard-sra")
    assert [each.end() for each in (again, other)] == [0, 0], (again.complained, other.complained)


def test_players_are_told_that_the_relay_is_out_of_reach_and_play_on_when_it_is_back(
    house: House, relay: RelayProcess
) -> None:
    rounds = ("--rounds", "6", "--pace", "0.2")
    host = house.play(house.alice, *CREATE, *rounds)
    guest = house.play(house.bob, "--join", link_of(host), *rounds, "--yes")
    guest.reach("turn to reveal")
    relay.kill()
    for player in (host, guest):
        player.reach(f"{relay.url} is out of reach")
    relay.start()
    assert [each.end() for each in (host, guest)] == [0, 0], (host.complained, guest.complained)
    assert "is in reach again" in host.said


def test_who_shares_the_hosts_journal_is_told_to_take_another(house: House) -> None:
    host = house.play(house.alice, *CREATE)
    own = house.store(house.bob)
    house.share(house.bob, house.alice)
    guest = house.play(house.bob, "--join", link_of(host), "--yes")
    assert guest.end() == 1
    assert "has another player of this game already" in guest.complained
    again = house.play(house.bob, "--join", link_of(host), "--yes", "--store", own)  # nobody had joined
    assert (host.end(), again.end()) == (0, 0)


def test_a_host_that_is_killed_while_it_waits_waits_on_for_the_same_link(house: House) -> None:
    host = house.play(house.alice, *CREATE, game="tic-tac-toe")
    link = link_of(host)
    host.end(by=signal.SIGKILL)
    again = house.play(house.alice, *CREATE, game="tic-tac-toe")
    assert link_of(again) == link
    guest = house.play(house.bob, "--join", link, "--yes", game="tic-tac-toe")
    assert [each.end() for each in (again, guest)] == [0, 0], (again.complained, guest.complained)
    assert house.meetings(house.alice) == house.meetings(house.bob) == 0


def test_whoever_begins_anew_takes_the_old_offer_back(house: House) -> None:
    host = house.play(house.alice, *CREATE, game="tic-tac-toe")
    link = link_of(host)
    host.end(by=signal.SIGKILL)
    anew = house.play(house.alice, *CREATE, "--fresh", game="tic-tac-toe")
    assert link_of(anew) != link
    guest = house.play(house.bob, "--join", link, "--yes", game="tic-tac-toe")
    assert guest.end() == 1
    assert "there is no such offer any more" in guest.complained
    assert house.meetings(house.alice) == 1


async def is_joined(text: str) -> bool:
    link = parse_link(text)
    async with RelayConnection(link.relay) as relay:
        return bool((await relay.lobby.look(link.offer)).joins)


def test_a_guest_joins_again_where_the_relay_was_restarted_before_they_met(house: House, relay: RelayProcess) -> None:
    host = house.play(house.alice, *CREATE, game="tic-tac-toe")
    link = link_of(host)
    host.process.send_signal(signal.SIGSTOP)
    guest = house.play(house.bob, "--join", link, "--yes", game="tic-tac-toe")
    guest.reach("a friendly game, without a chain")
    wait_until(lambda: asyncio.run(is_joined(link)))
    relay.kill()
    relay.start()
    host.process.send_signal(signal.SIGCONT)
    assert [each.end() for each in (host, guest)] == [0, 0], (host.complained, guest.complained)
