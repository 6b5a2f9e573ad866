"""What a player is shown of a channel, whatever the others do."""

from __future__ import annotations

from unittest.mock import Mock

from forcemove.node.events import CounterpartyFault
from forcemove.protocol.errors import StateConflict
from forcemove.sessions.playing.played_channel import PlayedChannel
from forcemove_games.tic_tac_toe import GAME


def test_a_flood_of_bad_messages_does_not_drown_the_game() -> None:
    output = Mock()
    match = PlayedChannel(GAME, Mock(), 60, output)
    for turn in range(1_000):
        match.on_event(CounterpartyFault(StateConflict(turn)))
    assert 1 < output.note.call_count < 50
    assert "not shown" in output.note.call_args.args[0]
