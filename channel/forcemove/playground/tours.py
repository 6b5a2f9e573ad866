"""Guided tours: the terminal's scenarios, done by a person with the playground's buttons. Each step says what to do,
and what to look at, and is over when it is done, however the person did it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forcemove.history.entries import FaultFound
from forcemove.history.history import ChannelHistory
from forcemove.playground.match import PlaygroundMatch
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.rounds import RoundCount, score_line


@dataclass(frozen=True, slots=True)
class TourProgress:
    """What a step is judged by. `began_at`: the next turn when the step began; `faults`: how many faults of Bob's there
    are now, and `had_faults`, how many there were when the step began."""

    match: PlaygroundMatch
    began_at: int
    faults: int
    had_faults: int

    @property
    def turn(self) -> int:
        """The turn of the next state."""
        return self.match.channel.next_turn


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step. `text`: what to do, and what to look at; `is_done`: whether that was done."""

    text: str
    is_done: Callable[[TourProgress], bool]


@dataclass(frozen=True, slots=True)
class TourPlan:
    """A tour. `title`: for its button; `steps`: in their order; `end`: what was seen."""

    title: str
    steps: tuple[TourStep, ...]
    end: str


def _is_paid(progress: TourProgress) -> bool:
    return progress.match.checks is not None


def _has_moved(progress: TourProgress) -> bool:
    return progress.turn > progress.began_at and not progress.match.channel.is_our_turn


def _is_answered(progress: TourProgress) -> bool:
    return progress.turn >= progress.began_at + 2


def _is_recorded(progress: TourProgress) -> bool:
    return progress.match.finalizes_at == 0 and progress.match.status().turn_num_record >= progress.began_at - 1


_LEAVE = TourStep(
    "Play the round to its end: leaving in it would cost you the stake. Then press Leave the game, and the button "
    "under it. You and Bob sign the end, and one transaction pays both: look for the check mark in the chain's lane.",
    _is_paid,
)

TOURS: Mapping[str, TourPlan] = {
    "honest": TourPlan(
        "an honest game",
        (
            TourStep(
                "Make a move. Look at the timeline: each dot is a state, signed by one of you and sent to the other. "
                "The chain's lane has only your deposits.",
                _is_answered,
            ),
            TourStep("Make another move. The dashed box is what you could show to the chain now.", _is_answered),
            _LEAVE,
        ),
        "Both have signed the end, and both were paid what the last state says.",
    ),
    "stall": TourPlan(
        "Bob stops",
        (
            TourStep("Press go silent: Bob stops playing.", lambda progress: progress.match.bob.is_silent),
            TourStep("Make a move. It is sent, but nobody answers.", _has_moved),
            TourStep(
                "Press Challenge. The chain gives Bob a time limit: look at the clock, and at the bar in the chain's "
                "lane.",
                lambda progress: progress.match.finalizes_at != 0,
            ),
            TourStep("Press let the clock run out, so that nobody has to wait an hour.", _is_paid),
        ),
        "Nobody answered in time: the state that you challenged with was paid out.",
    ),
    "stale-state": TourPlan(
        "Bob uses an old state",
        (
            TourStep("Make a move, so that there is a state that Bob would rather forget.", _is_answered),
            TourStep(
                "Press show an old state: Bob takes the chain back to it. Your client answers by itself, with the "
                "newest state: look for C and P in the chain's lane.",
                _is_recorded,
            ),
            _LEAVE,
        ),
        "The old state got Bob nothing: the newest one was recorded, the clock stopped, and what the rounds had "
        "decided was paid. {score}",
    ),
    "cheat": TourPlan(
        "Bob cheats",
        (
            TourStep(
                "Press move illegally, and make a move. Look at the cross in the timeline: your client has refused "
                "what Bob sent first.",
                lambda progress: progress.faults > progress.had_faults,
            ),
            TourStep(
                "Press forge your signature. Bob sends an end that pays him everything; look at the second cross.",
                lambda progress: progress.faults > progress.had_faults,
            ),
            TourStep(
                "Press withhold a move, and make a move. Bob tells only the chain his answer; your client finds it "
                "there.",
                lambda progress: progress.match.finalizes_at != 0,
            ),
            TourStep(
                "Make your move: it goes to the chain, and stops the clock.",
                lambda progress: progress.match.finalizes_at == 0,
            ),
            _LEAVE,
        ),
        "Cheating got Bob nothing: what the rounds had decided was paid. {score}",
    ),
}
"""The tours, by the scenarios' names."""


class PlaygroundTour:
    """A tour that somebody is on."""

    def __init__(self, plan: TourPlan, match: PlaygroundMatch, history: ChannelHistory) -> None:
        """Begin a tour in a game. `history`: of the game's channel."""
        self._plan, self._match = plan, match
        self._at, self._score = 0, ""
        self._begin(history)

    def _begin(self, history: ChannelHistory) -> None:
        results = RoundCount(self._match.game, history.states).results
        score = score_line(results, tuple(each.name for each in self._match.players), 0) or "No round was over"
        self._score = f"The rounds: {score}." if results else f"{score}."
        self._began_at, self._had_faults = self._match.channel.next_turn, _faults(history)

    def advance(self, history: ChannelHistory) -> bool:
        """Go to the next step where one is done; whether one was. `history`: as it is now."""
        if self._at == len(self._plan.steps):
            return False
        progress = TourProgress(self._match, self._began_at, _faults(history), self._had_faults)
        if not self._plan.steps[self._at].is_done(progress):
            return False
        self._at += 1
        self._begin(history)
        return True

    @property
    def is_over(self) -> bool:
        """Whether all steps are done."""
        return self._at == len(self._plan.steps)

    @property
    def _is_cut_short(self) -> bool:
        """Whether the game ends, though there is more to do in it than to wait for its end."""
        is_ending = self._match.managed.phase in (Phase.CONCLUDING, *OVER)
        return is_ending and self._plan.steps[self._at].is_done is not _is_paid

    @property
    def text(self) -> str:
        """What to do now, or what was seen."""
        if self.is_over:
            return self._plan.end.format(score=self._score)
        if self._is_cut_short:
            return f"The game ends before this tour. When both are paid, press {self._plan.title} for another game."
        return f"Step {self._at + 1} of {len(self._plan.steps)}: {self._plan.steps[self._at].text}"


def _faults(history: ChannelHistory) -> int:
    return sum(isinstance(each, FaultFound) for each in history.entries)
