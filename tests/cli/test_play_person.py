"""People at two terminals play with each other over a relay, as they would type it."""

from __future__ import annotations

import signal

import pytest

from forcemove import local_keys, write_key_file
from tests.cli.nodes import PASSPHRASE
from tests.cli.tables import World

CREATE = ("--create", "--stake", "0.01 ether")


def test_two_people_play_rock_paper_scissors_for_a_stake(world: World) -> None:
    host = world.sit(world.alice, *CREATE)
    guest = world.sit(world.bob, "--join", host.link())
    guest.answer("Join on these terms?", "y")
    host.reach("choose rock, which stays hidden")
    host.answer("Guest can challenge you. After a challenge now you have until ", "stone")
    host.answer("Type one of these: rock, paper, scissors, leave, help.", "pap")
    guest.reach("play scissors")
    guest.answer("Host 0.05 ether, Guest (you) 0.05 ether", "rock")
    host.reach("You win the round: paper beats rock. Guest's turn")  # the weapon was shown without asking
    guest.answer("Host 0.06 ether (+0.01 ether), Guest (you) 0.04 ether (-0.01 ether)", "leave")
    guest.answer("Leave now: you are paid 0.04 ether. Type", "yes")
    ends = [each.end() for each in (host, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    channel = world.require_right_ends()
    assert channel.newest is not None
    assert [each.amount for each in channel.newest.state.outcome] == [6 * 10**16, 4 * 10**16]
    assert any("You win 0.01 ether" in line for line in ends[0].lines)
    assert any("You lose 0.01 ether" in line for line in ends[1].lines)


@pytest.mark.parametrize("leave", ["\x03", "\x04", signal.SIGINT])
def test_a_person_who_puts_the_game_aside_comes_back_with_the_same_choice(
    world: World, leave: str | signal.Signals
) -> None:
    """After the hidden choice: it is kept, and revealed when they are back. Another program may interrupt this one."""
    host = world.sit(world.alice, *CREATE)
    guest = world.sit(world.bob, "--join", host.link(), "--yes")
    host.answer("choose rock, which", "scissors")
    guest.reach("play paper")
    if isinstance(leave, str):
        host.screen.type(leave)
    else:
        host.screen.send_signal(leave)
    aside = host.end()
    assert aside.code == 130
    assert any("be back before a challenge can run out" in line for line in aside.lines)
    guest.type("paper")
    back = world.sit(world.alice)
    guest.reach("Host revealed scissors. Host wins the round: scissors beat paper.")
    guest.type("")  # the only choice but leaving
    back.answer("choose rock, which", "leave")
    back.answer("no        play on", "yes")
    ends = [each.end() for each in (back, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    assert any("Continuing the open channel" in line for line in ends[0].lines)
    world.require_right_ends()


def test_the_key_signs_the_account_pays_and_the_payout_is_paid(world: World) -> None:
    """The key of the host never has any ether, and challenges all the same."""
    poor, paid = local_keys()[3], b"\x5a" * 20
    world.node.give(poor.address, 0)
    write_key_file(world.alice / "poor.json", poor, PASSPHRASE, scrypt_work=2**4)
    account = ("--key", "poor.json", "--account", "key.json", "--payout", "0x" + paid.hex())
    host = world.sit(world.alice, *account, *CREATE)
    guest = world.sit(world.bob, "--join", host.link(), "--yes")
    host.answer("choose rock, which", "rock")
    guest.reach("play scissors")
    host.answer("wait no longer, and ask the chain", "challenge")
    guest.answer("A clock is running: ", "scissors")
    host.reach("You win the round: rock beats scissors.")
    guest.answer("next", "leave")
    guest.answer("no        play on", "yes")
    ends = [each.end() for each in (host, guest)]
    assert [each.code for each in ends] == [0, 0], ends
    chain = world.node.chain
    assert chain.balance(paid) == 6 * 10**16
    assert chain.balance(poor.address) == 0
    channel = world.channel(world.alice)
    assert channel.agreement.fixed_part.participants[0] == poor.address
    assert world.held(channel) == 0


def test_who_plays_the_same_game_in_a_second_terminal_is_told(world: World) -> None:
    host = world.sit(world.alice, *CREATE)
    world.sit(world.bob, "--join", host.link(), "--yes")
    host.reach("choose rock, which")
    second = world.sit(world.alice)
    second.reach("Another process plays this")
    second.screen.send_signal(signal.SIGINT)
    seen = second.end()
    assert seen.code == 130
    assert not any("other channel is open" in line for line in seen.lines)
