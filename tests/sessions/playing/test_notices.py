"""What players are warned of, for as long as it is so."""

from __future__ import annotations

from unittest.mock import Mock

from forcemove.sessions.playing.notices import TableNotices
from forcemove.watchtower.client_errors import TowerUnreachable
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, Unprotected

CHANNEL, URL = bytes(32), "https://tower.example"
OTHER = bytes(31) + b"\1"


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
    assert notices.warnings(OTHER) == ()
    appointment = Mock()
    appointment.agreement.channel_id = CHANNEL
    notices.on_tower_notice(Acknowledged(URL, appointment, Mock()))
    assert notices.warnings(CHANNEL) == ()


def test_each_error_of_a_step_of_a_channel_ends_the_match_of_that_channel_alone() -> None:
    """Not only the first one: a counterparty may cause several."""
    errors = [LookupError("one"), LookupError("another")]
    channels = {CHANNEL: Mock(error=errors[0], errors=errors), OTHER: Mock(error=None, errors=[])}
    notices = TableNotices(Mock(), lambda: channels)
    match, other = Mock(fatal_error=None), Mock(fatal_error=None)
    notices.seat(CHANNEL, match, Mock())
    notices.seat(OTHER, other, Mock())
    for each in errors:
        notices.on_node_error(each)
    assert (match.fatal_error, other.fatal_error) == (errors[0], None)
