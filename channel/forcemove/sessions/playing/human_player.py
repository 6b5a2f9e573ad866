"""A person who plays a channel: what can be typed now, and what it does. No screen."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence

from forcemove.errors import ForcemoveError
from forcemove.flow.channel import is_stuck
from forcemove.game import Choice, Game, Move, Names, Randomness
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import MOVE, overview
from forcemove.node.managed_channel import ManagedChannel
from forcemove.node.policy import usual_gas
from forcemove.protocol.machine.effects import ChooseMove
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.sessions.playing.content import NAMES
from forcemove.sessions.playing.help import HELP, HISTORY, RULES, SAY, help_lines, history_lines
from forcemove.sessions.playing.leaving import Leaving
from forcemove.sessions.playing.patience import NO_CLOCK, MoveClock
from forcemove.sessions.ports import Chat
from forcemove.text.explanations import headline
from forcemove.text.situation.ways_out import PUT_AWAY, can_put_away, leaving_text

_LEAVE, _CHALLENGE, _YES, _NO = "leave", "challenge", "yes", "no"


class HumanPlayer:
    """A person, who decides by typing. `played`: the channel, once it is driven; `names`: of its players, by seat;
    `clock`: of the mover. `on_attached`: is called when the person has been given the channel. `say`: is called with
    the lines of `help` and `history`. `chat`: what the players say to each other; None where they cannot.
    `chosen_turn`: the turn of the move that the person has chosen last; 0 where none was chosen. `on_asked`: is called
    when there is something to decide. `is_seen`: says whether a screen of the person is open."""

    def __init__(
        self,
        game: Game,
        randomness: Randomness = secrets.token_bytes,
        *,
        aside: str = "",
        agrees: bool = False,
    ) -> None:
        """`aside`: what becomes of the game when the person presses Ctrl-C. `agrees`: to leave, and lose a stake
        by it, without being asked."""
        self.played: ManagedChannel | None = None
        self.names: Names = NAMES
        self.clock = NO_CLOCK
        self.on_attached: Callable[[], None] = lambda: None
        self.say: Callable[[str], None] = lambda _: None
        self.chat: Chat | None = None
        self.on_asked: Callable[[], None] = lambda: None
        self.is_seen: Callable[[], bool] = lambda: False
        self._aside, self._agrees, self._leaving = aside, agrees, Leaving(game, randomness)
        self._doubts = False
        self._game, self._randomness = game, randomness
        self.chosen_turn = 0
        self._question: ChooseMove | None = None
        self._choices: tuple[Choice, ...] = ()

    def attach(self, played: ManagedChannel, names: Names = NAMES, clock: MoveClock = NO_CLOCK) -> None:
        """See `PlayerSeat`."""
        self.played, self.names, self.clock = played, names, clock
        self.on_attached()

    def join_chat(self, chat: Chat) -> None:
        """See `PlayerSeat`."""
        self.chat = chat
        chat.is_seen = self.is_seen

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """The answer where there is nothing to decide; None where the person is asked. Raises as `Game.choices`."""
        self._leaving.observe(question.state)
        found = tuple(self._game.choices(question.state, self._randomness, question.secrets, question.between))
        if not found:
            return ConcludeWanted()
        if len(found) == 1 and found[0].is_forced:
            self._leaving.observe(found[0].move.after(question.state))
            return _move(found[0])
        self._question, self._choices = question, found
        self.on_asked()
        return None

    @property
    def options(self) -> Sequence[tuple[str, str]]:
        """What can be typed now, and what it does."""
        played = self.played
        if played is None or played.is_put_away:
            return ()
        channel, is_friendly = played.channel, played.channel.agreement.is_friendly
        gas = usual_gas(channel.agreement, self._game, played.prices)
        seen = overview(channel, ChannelHistory(), played.time(), choices=self.choices, gas=gas).options
        silences = () if self.chat is None else self.chat.presence.silences()
        can_end = not played.is_done and can_put_away(channel, silences, self.clock.left())
        away = [(PUT_AWAY, "end the game here, unfinished: nothing is at stake")] if can_end else []
        if not seen:
            return away
        if self._doubts:
            return ((_YES, "leave"), (_NO, "play on"))
        offered = [(each.word, f"{each.text}{_gas_text(each.gas)}") for each in seen if each.kind == MOVE]
        if is_stuck(channel, played.phase) and not is_friendly:
            offered.append((_CHALLENGE, f"wait no longer, and ask the chain{_gas_text(gas.get(_CHALLENGE))}"))
        when = "now" if channel.is_our_turn else "with your next turn"
        leave = f"end the game {when}" + ("" if is_friendly else "; you are asked first, with what you are paid")
        offered += [(_LEAVE, f"{leave}{_gas_text(each.gas)}") for each in seen if each.kind == _LEAVE]
        offered += away
        return (*offered, (HELP, f"what can be done here, such as {RULES} and {HISTORY}"))

    @property
    def is_asked(self) -> bool:
        """Whether only the person can decide what is open now."""
        played = self.played
        return played is not None and bool(self.choices) and not played.channel.leaving

    def has_decided(self, word: str) -> bool:
        """Whether the person has left, or put the game away, already: a button that is clicked twice says so twice."""
        played = self.played
        if played is None:
            return False
        return played.channel.leaving if word == _LEAVE else word == PUT_AWAY and played.is_put_away

    @property
    def leave_cost(self) -> int:
        """The most that leaving with the next turn loses, in the smallest unit."""
        return 0 if self.played is None else self._leaving.cost(self.played.channel)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The moves that the game offers now: none where it is not the person's turn, the chain or time has answered
        the question, or nothing would be signed now."""
        played, question = self.played, self._question
        if played is None or question is None or not played.channel.is_our_turn_after(question.state):
            return ()
        return self._choices if played.channel.reason_to_wait(played.phase) is None else ()

    def take(self, typed: str, *, agrees: bool = False) -> str:
        """Do what was typed. Returns what is wrong with it, empty where it was done. An empty line is the only choice
        of the game, where there is one; the beginning of a word will do where no other word begins so. `agrees`: to
        leave without being asked: a screen has said before what that costs. What begins with `say` is sent to the
        other players."""
        said = typed.strip().partition(" ")
        if said[0].lower() == SAY and said[2].strip() and self.chat is not None:
            return self.chat.say(said[2])
        typed, choices = " ".join(typed.lower().split()).removeprefix(f"{HELP} "), self.choices
        if typed == RULES:
            return self._show(self._game.rules_text)
        if typed == HISTORY and self.played is not None:
            return self._show_history(self.played)
        if not typed:
            typed = choices[0].word if len(choices) == 1 else ""
        words = [word for word, _ in self.options]
        meant = [typed] if typed in words else [each for each in words if typed and each.startswith(typed)]
        if len(meant) == 1 and self.played is not None:
            return self._feed(self.played, meant[0], agrees=agrees or self._agrees)
        return f"Type one of these: {', '.join(words)}." if words else "There is nothing to decide now."

    def _feed(self, played: ManagedChannel, word: str, *, agrees: bool) -> str:
        """Do what a word says. Raises nothing: an error, or a question, is returned."""
        if word == HELP:
            self._help(played)
            return ""
        if self._doubts and word == _NO:
            self._doubts = False
            return ""
        if word == _LEAVE and not agrees and (asked := leaving_text(played.channel, self.leave_cost, played.tokens)):
            self._doubts = True
            return f"{asked}. Type yes or no."
        self._doubts = False
        try:
            if word == PUT_AWAY:
                played.put_away()
            else:
                self._take(played, self._input_for(word))
        except ForcemoveError as error:
            return headline(error)
        return ""

    def _take(self, played: ManagedChannel, chosen: MoveChosen | ConcludeWanted | ChallengeWanted) -> None:
        newest = played.channel.newest
        played.feed(chosen)
        if isinstance(chosen, MoveChosen) and newest is not None:
            self.chosen_turn = newest.state.turn_num + 1
            self._leaving.observe(Move(chosen.outcome, chosen.app_data, chosen.evidence).after(newest.state))

    def _help(self, played: ManagedChannel) -> None:
        has_stake = not played.channel.agreement.is_friendly
        self._show(help_lines(self._aside, has_stake=has_stake, has_chat=self.chat is not None))

    def _show_history(self, played: ManagedChannel) -> str:
        """Show what has happened. Returns what is wrong, where it cannot be read."""
        try:
            lines = list(history_lines(self._game, played, self.names))
        except ForcemoveError as error:
            return headline(error)
        return self._show(lines) if lines else "Nothing has happened yet."

    def _show(self, lines: Iterable[str]) -> str:
        """Show lines. Returns that nothing is wrong."""
        for line in lines:
            self.say(line)
        return ""

    def _input_for(self, word: str) -> MoveChosen | ConcludeWanted | ChallengeWanted:
        for choice in self.choices:
            if choice.word == word:
                return _move(choice)
        return ChallengeWanted() if word == _CHALLENGE else ConcludeWanted()


def _gas_text(gas: int | None) -> str:
    """What an option costs in gas; empty where it costs none, or that is not known."""
    return f" (about {round(gas, -3):,} gas)" if gas else ""


def _move(choice: Choice) -> MoveChosen:
    return MoveChosen(*choice.move, secrets=choice.secrets)
