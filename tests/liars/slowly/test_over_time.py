"""Endpoints that lie, the honest one as slow as it may be, a process that stands still or starts again, and a system
clock that is set, all at times drawn by lot: nothing is lost, and nothing is signed that an honest view would not have
given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

import pytest

from forcemove.errors import ForcemoveError
from tests.liars.lies import MONEY
from tests.liars.places import honest
from tests.liars.proxy import Tell
from tests.liars.slowly.places import SlowNode, SlowTower
from tests.sampled import with_sample
from tests.simulation.liars import TOLD, Fickle

PARTS: dict[str, type[SlowNode | SlowTower]] = {"node": SlowNode, "tower": SlowTower}
PACES = (0.0, 0.1, 1.0, 3.0)
"""Seconds for a request."""
STOPS, SKEWS = (5, 40, 400), (0, -7_200, 7_200)
SECONDS, ANSWERED_WITHIN = 240, 90
"""For which liars go on; and from a challenge, or from what has held the process up after it, to the answer."""


@dataclass(frozen=True)
class Event:
    """At this second of the story one thing happens to the process, or in the world."""

    at: int
    what: str
    which: int = 0


@dataclass(frozen=True)
class Story:
    """All that happens, in order. `takes`: seconds for a request at the beginning, for each endpoint."""

    takes: Sequence[float]
    events: Sequence[Event]


def draw(seed: int, endpoints: int) -> Story:
    """A seed's story."""
    random = Random(seed)
    takes, events = [random.choice(PACES) for _ in range(endpoints)], [Event(random.randint(5, 60), "challenge")]
    kinds = {"stop": (len(STOPS), 2), "start": (1, 2), "clock": (len(SKEWS), 2), "lies": (1, 30)}
    for what, (which, most) in {**kinds, "pace": (endpoints * len(PACES), 4)}.items():
        times = random.choices(range(SECONDS), k=random.randint(0, most))
        events += [Event(at, what, random.randrange(which)) for at in times]
    return Story(takes, sorted(events, key=lambda each: each.at))


class Run:
    """One story, of a part."""

    def __init__(self, part: str, folder: Path, patch: pytest.MonkeyPatch, story: Story, tells: Sequence[Tell]) -> None:
        self._tells, self._story = tells, story
        self.place = PARTS[part](folder, patch, tells, story.takes)

    def play(self) -> None:
        """For as long as the liars go on."""
        place, since = self.place, 0
        (challenged_at,) = (each.at for each in self._story.events if each.what == "challenge")
        for second in range(SECONDS):
            for each in (each for each in self._story.events if each.at == second):
                self._happen(each)
                since = second if each.what in ("challenge", "stop", "start") else since
            place.run(1)
            assert second < challenged_at or place.is_answered or second - since < ANSWERED_WITHIN
        place.run(ANSWERED_WITHIN, until=lambda: place.is_answered)
        assert place.is_answered

    def _happen(self, event: Event) -> None:
        place = self.place
        match event.what:
            case "challenge":
                place.challenge()
            case "stop":
                place.pass_time(STOPS[event.which])
            case "start":
                place.start_again()
            case "clock":
                place.skew = SKEWS[event.which]
            case "pace":
                endpoint, pace = divmod(event.which, len(PACES))
                place.takes = [*place.takes[:endpoint], PACES[pace], *place.takes[endpoint + 1 :]]
            case "lies":
                for each in self._tells:
                    if isinstance(each, Fickle):
                        each.change()

    def end(self) -> None:
        """All say the truth, and Bob is back."""
        self.place.skew = 0
        self.place.takes = [0.0] * len(self._tells)
        self.place.end()
        troubles = self.place.troubles
        assert all(isinstance(each, ForcemoveError) for each in troubles), troubles


Play = Callable[[str, Story, Sequence[Tell]], Run]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    made, patch = list[Run](), pytest.MonkeyPatch()

    def run(part: str, story: Story, tells: Sequence[Tell]) -> Run:
        patch.undo()  # what the run before has patched is its own
        (folder := tmp_path / str(len(made))).mkdir()
        made.append(Run(part, folder, patch, story, tells))
        made[-1].play()
        return made[-1]

    yield run
    patch.undo()
    for each in made:
        each.place.close()


def require_nothing_lost(part: str, story: Story, tells: Sequence[Tell], play: Play) -> None:
    """The same story is played with honest endpoints first."""
    honestly = play(part, story, [honest] * len(tells)).place
    cost, signed = honestly.cost, set(honestly.signed)
    run = play(part, story, tells)
    assert run.place.cost <= 3 * cost
    assert set(run.place.signed) <= signed
    run.end()


@pytest.mark.parametrize("seed", with_sample(range(1_000), range(2)))
@pytest.mark.parametrize("part", PARTS)
def test_threat_43_whatever_happens_over_time_one_honest_endpoint_is_enough(part: str, seed: int, play: Play) -> None:
    """However slow it is, and whatever one or two others tell."""
    random = Random(-seed - 1)
    tells: list[Tell] = [Fickle(random) for _ in range(random.randint(1, 2))]
    tells.insert(random.randint(0, len(tells)), honest)
    require_nothing_lost(part, draw(seed, len(tells)), tells, play)


SLOWLY = list(product(PARTS, TOLD, (0, 1), PACES[1:]))


@pytest.mark.parametrize(
    ("part", "lie", "place", "seconds"),
    with_sample(SLOWLY, [each for each in SLOWLY if each[1] in MONEY][::43]),
)
def test_hole_38_a_liar_that_answers_at_once_keeps_nothing_from_an_honest_one_that_is_slow(
    part: str, lie: str, place: int, seconds: float, play: Play
) -> None:
    tells, takes = list[Tell]([honest]), [seconds]
    tells.insert(place, TOLD[lie])
    takes.insert(place, 0.0)
    require_nothing_lost(part, Story(takes, [Event(10, "challenge")]), tells, play)
