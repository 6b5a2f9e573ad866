"""What players are warned of, for as long as it is so."""

from __future__ import annotations

from unittest.mock import Mock

from forcemove.sessions.playing.notices import TableNotices
from forcemove.watchtower.client_errors import TowerUnreachable
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, Unprotected

CHANNEL, URL = bytes(32), "https://tower.example"


def test_that_no_watchtower_has_a_turn_and_why_is_a_warning_until_one_has_it() -> None:
    notices, match = TableNotices(Mock(), dict), Mock(warning="")
    notices.seat(CHANNEL, match, Mock())
    notices.on_tower_notice(NotAcknowledged(URL, CHANNEL, 7, TowerUnreachable(URL, "refused")))
    assert notices.warnings(CHANNEL) == ()  # it may come in time
    notices.on_tower_notice(Unprotected(CHANNEL, 7, 30.0))
    assert notices.warnings(CHANNEL) == (
        "No watchtower has acknowledged turn 7: do not go away.",
        f"No watchtower answers at {URL}: refused.",
    )
    assert notices.warnings(bytes(31) + b"\1") == ()
    appointment = Mock()
    appointment.agreement.channel_id = CHANNEL
    notices.on_tower_notice(Acknowledged(URL, appointment, Mock()))
    assert notices.warnings(CHANNEL) == ()
