"""A friendly game on a page, in a process that lacks what a browser's tab lacks: threads, servers, a chain's libraries.
Run as a program. Prints for each game the turn of its end."""

from __future__ import annotations

import random

from tests.seams.lacking import CHAINS, SERVERS, TERMINALS, forbid_threads, take_away

REFUSED = take_away(SERVERS | CHAINS | TERMINALS)
forbid_threads()

from forcemove import (  # noqa: E402
    ETHER,
    Agreement,
    ChannelSetup,
    Domain,
    FixedPart,
    FriendlyAssembly,
    Game,
    Key,
    MemoryMessenger,
    Node,
    address_destination,
    agree,
    installed_games,
    moves_of,
    open_journal,
)
from forcemove.browser.render import channel_page, channels_page  # noqa: E402
from forcemove.browser.table_pages import TablePages  # noqa: E402
from forcemove.sessions.playing.human_player import HumanPlayer  # noqa: E402
from forcemove.store.opening import MEMORY  # noqa: E402

KEYS = [Key(bytes(31) + bytes((number,))) for number in (1, 2)]
LAST, MOST = 40, 2_000
"""The turn after which the person leaves, and how often both nodes are polled at most."""


def agreement_of(game: Game) -> Agreement:
    players = tuple(key.address for key in KEYS)
    fixed_part, payees = FixedPart(players, 7, bytes(20), 3600), tuple(map(address_destination, players))
    return agree(Domain(0, bytes(20)), fixed_part, game, 0, ((ETHER, (0, 0)),), payees)


def play(game: Game, chance: random.Random) -> int:
    """A person at a page, who clicks on anything that is offered, against the bot; returns the turn of the end."""
    agreement, lines, troubles = agreement_of(game), MemoryMessenger.table(2), list[Exception]()
    journals = [open_journal(MEMORY, owner=bytes(15) + bytes((seat,))) for seat in range(2)]
    now = [1_000.0]
    nodes = [Node(each, on_error=troubles.append, clock=lambda: now[0]) for each in journals]
    person, assembly = HumanPlayer(game), FriendlyAssembly(game, agreement)
    bot = moves_of(game.bot(1), another_round=lambda _: True)
    players = [
        nodes[seat].add(ChannelSetup(assembly, KEYS[seat], lines[seat], choose))
        for seat, choose in enumerate((person.choose, bot))
    ]
    pages = TablePages(journals[0], [game])
    pages.seat(game, agreement, person)
    person.attach(players[0])
    for _ in range(MOST):
        for node in nodes:
            node.poll()
        now[0] += 1
        view = pages.view(agreement.channel_id, None, "token")
        assert view is not None
        assert game.title in channel_page(view)
        assert troubles == []
        if all(each.is_done for each in players):
            assert game.title in channels_page(*pages.rows())
            newest = players[0].channel.newest
            assert newest is not None
            return newest.state.turn_num
        moves = [each.word for each in view.seen.options if each.kind == "move"]
        if moves and view.seen.next_turn < LAST:
            pages.act(agreement.channel_id, "move", chance.choice(moves), view.seen.next_turn)
        elif moves:
            pages.act(agreement.channel_id, "leave", "", view.seen.next_turn)
    raise AssertionError(f"{game.name} does not end")


if __name__ == "__main__":
    for found in installed_games().usable:
        if found.distribution.partition(" ")[0] == "forcemove" and 2 in found.game.seats:
            print(found.game.name, play(found.game, random.Random(found.game.name)))
    assert REFUSED == [], REFUSED
