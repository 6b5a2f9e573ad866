"""A played game in words: its positions, what each turn says, the score, and the record that a stranger can check.
Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forcemove.errors import ForcemoveError
from forcemove.game import Game, Names
from forcemove.history.history import ChannelHistory
from forcemove.inspect.game_record import GameRecord, encode_game_record, played_states
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.types import SignedState, VariablePart
from forcemove.rounds import RoundCount, position_line, result_line, score_line, state_words
from forcemove.text.harmless import bare, harmless
from forcemove.text.names import shown_names

if TYPE_CHECKING:
    from forcemove.inspect.journal_channel import JournalChannel
    from forcemove.inspect.listed_channel import ListedChannel

_SCORES = 25
"""Channels of a list whose rounds are counted: for that their histories are read."""


@dataclass(frozen=True, slots=True)
class PlayedPosition:
    """A position of a game. `before`: the state before, None of the first position; `words`: what was done last, and
    whose turn it is; `score`: of the rounds that are over by then, empty before the first is."""

    state: VariablePart
    before: VariablePart | None
    words: str
    score: str


def positions_in(
    game: Game, states: Sequence[SignedState], names: Names, viewer: int | None = None
) -> tuple[PlayedPosition, ...]:
    """The positions of a game, from its first to its last; what has none, such as a final state, is left out.

    - `game`: which is played.
    - `states`: from the first turn on.
    - `names`: of the participants, by seat.
    - `viewer`: the seat that reads; None for somebody who has no seat.
    """
    played = [each.state for each in states[2 * len(names) - 1 :] if not each.state.is_final]
    rounds, found = RoundCount(game), list[PlayedPosition]()
    for place, state in enumerate(played):
        before = played[place - 1] if place else None
        rounds.add(state)
        words = harmless(position_line(game, before, state, names, viewer))
        found.append(PlayedPosition(state, before, words, score_line(rounds.results, names, viewer)))
    return tuple(found)


def names_of(stored: JournalChannel) -> Names:
    """What the players of a journal's channel are called, by seat; the seat's word for one who has no name."""
    participants = stored.channel.agreement.fixed_part.participants
    return shown_names(stored.metadata.names or ("",) * len(participants), participants)


def with_scores(channels: Iterable[ListedChannel], load: Callable[[bytes], ChannelHistory]) -> list[ListedChannel]:
    """The channels of a list in their order, the first with the score of their rounds. `load`: reads a channel's
    history, by its id."""
    ordered = sorted(channels, key=lambda each: each.urgency)
    counted = (replace(each, score=_score_of(each, load(each.id))) for each in ordered[:_SCORES])
    return [*counted, *ordered[_SCORES:]]


def _score_of(listed: ListedChannel, history: ChannelHistory) -> str:
    summary = listed.summary
    if listed.game is None:
        return ""
    names = shown_names(summary.names or ("",) * len(summary.participants), summary.participants)
    try:
        return score_line(RoundCount(listed.game, history.states).results, names, summary.index)
    except ForcemoveError:
        return ""


def record_text(channel: Channel, history: ChannelHistory, game: Game, names: Names) -> str:
    """The file of a channel's game, for anybody to check. Raises `RecordIncomplete`.

    - `channel`: as it is now.
    - `history`: of the channel.
    - `game`: which is played.
    - `names`: what the players call themselves, by seat.
    """
    names = tuple(map(bare, names))
    agreement, states = channel.agreement, played_states(channel, history, game)
    words = tuple(_words(game, states, names))
    begun_at = history.entries[0].time if history.entries else 0
    made = (agreement.domain, agreement.fixed_part, game.artifact.name, states, names, begun_at, words)
    return encode_game_record(GameRecord(*made), agreement)


def _words(game: Game, states: Sequence[SignedState], names: Names) -> Iterator[str]:
    """What each state says, and how the round has ended with it."""
    before = None
    for each in states:
        words, result = state_words(game, before, each.state, len(names)), game.result(each.state)
        yield words if result is None else f"{words}. {result_line(result, names, None)}"
        before = each.state
