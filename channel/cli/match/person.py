"""A person who plays a channel: what can be typed now, and what is made of it. No screen."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from forcemove.channel.cli.explanations import headline
from forcemove.channel.cli.match.match import Played
from forcemove.channel.cli.match.rounds import with_counts
from forcemove.channel.errors import ForcemoveError
from forcemove.channel.flow.channel import is_stuck
from forcemove.channel.game import Choice, Game, Randomness
from forcemove.channel.protocol.channel import Phase
from forcemove.channel.protocol.effects import ChooseMove
from forcemove.channel.protocol.inputs import ChallengeWanted, ConcludeWanted, MoveChosen

__all__ = ["Person"]

_LEAVE, _CHALLENGE = "leave", "challenge"


class Person:
    """Decides by what is typed. `played`: the channel, once something drives it."""

    def __init__(self, game: Game, randomness: Randomness = secrets.token_bytes) -> None:
        self.played: Played | None = None
        self._game, self._randomness = game, randomness
        self._question: ChooseMove | None = None
        self._choices: tuple[Choice, ...] = ()

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """The answer where there is nothing to decide; None where the person is asked. Raises as `Game.choices`."""
        counts, own = with_counts(question.secrets)
        found = tuple(self._game.choices(question.state, self._randomness, own))
        if not found:
            return ConcludeWanted()
        if len(found) == 1 and found[0].is_forced:
            return _move(found[0], counts)
        self._question, self._choices = question, found
        return None

    @property
    def options(self) -> Sequence[tuple[str, str]]:
        """What can be typed now, and what it does."""
        played = self.played
        if played is None or played.channel.leaving or played.phase not in (Phase.PLAYING, Phase.CHALLENGED):
            return ()
        offered = [(each.word, each.text) for each in self._open_choices]
        if is_stuck(played.channel, played.phase) and not played.channel.agreement.is_friendly:
            offered.append((_CHALLENGE, "wait no longer, and ask the chain, which costs gas"))
        return (*offered, (_LEAVE, "end the game with your next turn; the balances above are paid"))

    @property
    def _open_choices(self) -> tuple[Choice, ...]:
        """Of the question, if it was not answered otherwise: by the chain, or by time."""
        if self.played is None or self._question is None:
            return ()
        return self._choices if self.played.channel.is_our_turn_after(self._question.state) else ()

    def take(self, typed: str) -> str:
        """Do what was typed. Returns what is wrong with it, empty where nothing is. An empty line is the only choice of
        the game, where there is one; the beginning of a word will do where no other begins so."""
        typed, choices = typed.strip().lower(), self._open_choices
        if not typed:
            typed = choices[0].word if len(choices) == 1 else ""
        words = [word for word, _ in self.options]
        meant = [typed] if typed in words else [each for each in words if typed and each.startswith(typed)]
        if len(meant) == 1 and self.played is not None:
            return self._feed(self.played, meant[0])
        return f"Type one of these: {', '.join(words)}." if words else "There is nothing to decide now."

    def _feed(self, played: Played, word: str) -> str:
        try:
            played.feed(self._wish(word))
        except ForcemoveError as error:
            return headline(error)
        return ""

    def _wish(self, word: str) -> MoveChosen | ConcludeWanted | ChallengeWanted:
        for choice in self._open_choices:
            if choice.word == word and self._question is not None:
                return _move(choice, with_counts(self._question.secrets)[0])
        return ChallengeWanted() if word == _CHALLENGE else ConcludeWanted()


def _move(choice: Choice, counts: bytes) -> MoveChosen:
    return MoveChosen(*choice.move, None if choice.secrets is None else counts + choice.secrets)
