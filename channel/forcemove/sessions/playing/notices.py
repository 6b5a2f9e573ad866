"""What the players at all tables of a service are notified of: errors of the node, and what watchtowers have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forcemove.chain.errors import Unreachable
from forcemove.errors import ChainError, ForcemoveError, JournalUnavailable, PassingError
from forcemove.follower.errors import AnotherChain
from forcemove.node.errors import LeaseLost
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.results import is_unpaid
from forcemove.sessions.playing.played_channel import PlayedChannel
from forcemove.sessions.ports import Output
from forcemove.text.explanations import headline
from forcemove.watchtower.publisher import Acknowledged, NotAcknowledged, TowerNotification, Unprotected
from forcemove.workers.errors import AccountInUse

_PASSING = (ChainError, PassingError, JournalUnavailable, AccountInUse)
"""Errors that may be gone at the next attempt."""


@dataclass(eq=False)
class _Seated:
    """A channel that is played at a table now."""

    match: PlayedChannel
    output: Output


class TableNotices:
    """The notices of one service. `has_played`: whether a channel was driven for a table."""

    def __init__(self, output: Output, channels: Callable[[], Mapping[bytes, ManagedChannel]]) -> None:
        """`output`: where is shown what concerns no table, or comes while no channel is played. `channels`: those that
        the node drives, by id."""
        self._output, self._channels = output, channels
        self._seated: dict[bytes, _Seated] = {}
        self._reported = ""
        self._unacknowledged: dict[str, str] = {}
        self.has_played = False

    def seat(self, channel_id: bytes, match: PlayedChannel, output: Output) -> None:
        """A channel is played at a table from now on."""
        self._seated[channel_id] = _Seated(match, output)

    def leave(self, channel_id: bytes) -> None:
        """A channel is played no more."""
        del self._seated[channel_id]

    def warnings(self, channel_id: bytes) -> Sequence[str]:
        """What the player of a channel has to know at once, and why it is so."""
        seated = self._seated.get(channel_id)
        return (seated.match.warning, *self._unacknowledged.values()) if seated and seated.match.warning else ()

    def _outputs(self) -> list[Output]:
        """Where is shown what concerns no single table."""
        return [each.output for each in self._seated.values()] or [self._output]

    def say(self, text: str) -> None:
        """Say what concerns no single table."""
        for output in self._outputs():
            output.say(text)

    def on_node_error(self, error: Exception) -> None:
        """Report an error that passes once; an error that does not pass ends the match whose channel it is of, and all
        matches where it is of no channel. Another chain than the channel's is waited out once somebody has paid in."""
        is_fatal = not isinstance(error, _PASSING)
        if isinstance(error, AnotherChain) and (driven := self._channels().get(error.channel_id)) is not None:
            is_fatal = is_unpaid(driven.channel)
        concerned = self._concerned(error)
        if is_fatal and concerned:
            for each in concerned:
                each.match.fatal_error = each.match.fatal_error or error
            return
        if isinstance(error, Unreachable) and self.has_played:
            return  # the connectivity of the chain is reported like that of the relay
        text = headline(error) if is_fatal and isinstance(error, ForcemoveError) else _passing_text(error)
        if text != self._reported:
            self._reported = text
            for output in [each.output for each in concerned] or self._outputs():
                output.note(text)

    def _concerned(self, error: Exception) -> list[_Seated]:
        """The tables that an error is of: one channel's, or all of them where it is of no channel."""
        if isinstance(error, AnotherChain | LeaseLost):
            ids = [error.channel_id]
        else:
            has_gone_wrong = ((id_, each) for id_, driven in self._channels().items() for each in driven.errors)
            ids = [id_ for id_, each in has_gone_wrong if each is error] or list(self._seated)
        return [self._seated[id_] for id_ in ids if id_ in self._seated]

    def on_tower_notice(self, notice: TowerNotification) -> None:
        """Show a warning at a table as long as no watchtower has its newest state."""
        match notice:
            case Acknowledged(url, appointment):
                self._unacknowledged.pop(url, None)
                if (seated := self._seated.get(appointment.agreement.channel_id)) is not None:
                    seated.match.warning = ""
            case NotAcknowledged(url, channel_id, error=error):
                text = headline(error)
                if self._unacknowledged.get(url) != text:
                    self._unacknowledged[url] = text
                    seated = self._seated.get(channel_id)
                    (seated.output if seated else self._output).note(f"tower       {text}")
            case Unprotected(channel_id, turn_num):
                if (seated := self._seated.get(channel_id)) is not None:
                    seated.match.warning = f"No watchtower has acknowledged turn {turn_num}: do not go away."


def _passing_text(error: Exception) -> str:
    what = headline(error) if isinstance(error, ForcemoveError) else f"{type(error).__name__}: {error}."
    return f"{what} Trying again."
