"""The playground over the contracts' twins is the playground over the contracts: whatever is pressed and played, it has
the same phases, outcomes and words, but for gas, and the balances are as expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import pytest

from forcemove.arena.chain import ArenaChain
from forcemove.arena.evm_chain import EvmChain
from forcemove.arena.twin_chain import TwinChain
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.browser.render import channel_panels
from forcemove.game import Bot, Game
from forcemove.playground.buttons import groups_of
from forcemove_games.discard import GAME as DISCARD
from tests.playground.games import ROCK_PAPER_SCISSORS, TIC_TAC_TOE, TimedPlayground

_BOTS = {type(game): type(game).bot for game in (TIC_TAC_TOE, ROCK_PAPER_SCISSORS, DISCARD)}
Chains = Callable[[Callable[[], float]], ArenaChain]
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9][0-9.,:]*|(?<=aria-label=)\"[^\"]*\"|M[^\"]*")
"""What depends on gas, on the time of day, and on hashes."""


class _Playground(TimedPlayground):
    """Where gas is dear, a client answers a dispute by what that costs, which the twin does not know of cards."""

    @property
    def open_buttons(self) -> list[str]:
        """See `TimedPlayground`."""
        has_cards = DISCARD in self.playground.games
        return [each for each in super().open_buttons if not (has_cards and each == "dear")]


def chosen_by(bot: Callable[..., Bot], random: Random) -> Callable[..., Bot]:
    """A game's bots, with this chance in place of the system's."""

    def seeded(game: Game, seat: int, *_: object, **options: Any) -> Bot:
        return bot(game, seat, **{**options, "randomness": random.randbytes})

    return seeded


def begin(chain: Chains, games: tuple[Game, ...], seed: int, monkeypatch: pytest.MonkeyPatch) -> TimedPlayground:
    """A playground in which nothing is left to chance but `seed`."""
    for game in games:
        monkeypatch.setattr(type(game), "bot", chosen_by(_BOTS[type(game)], Random(seed)))
    nonces = count(1)
    return _Playground(Random(seed), games=games, chain=chain, nonces=lambda: next(nonces))


def seen(made: TimedPlayground) -> object:
    """What a person sees, and what is behind it."""
    playground = made.playground
    channel, match, now = playground.channel, playground.match, playground.now
    newest = channel.newest
    view = PlaygroundPages(playground, lambda: made.now).view(channel.agreement.channel_id, None, "token")
    assert view is not None
    ends = match.finalizes_at
    return (
        channel.phase(now),
        None if newest is None else (newest.state.turn_num, newest.state.outcome, newest.state.app_data),
        match.status().turn_num_record,
        ends and ends - playground.chain.time,
        [(each.name, each.due) for each in match.checks or ()],
        [(each.name, each.reason) for group in groups_of(playground) for each in group.controls],
        playground.errors,
        {name: _NUMBERS.sub("#", html) for name, html in channel_panels(view).items()},
    )


def play(made: TimedPlayground, presses: int) -> Iterator[object]:
    """Do so much at random, in as many games as that takes."""
    for number in range(presses):
        if made.playground.match.checks is not None:
            made.require_right()
            made.press(f"new-{made.random.choice(made.playground.games).name}")
        made.step()
        yield f"press {number} of {made.pressed[-3:]}", seen(made)
    made.end()
    made.require_right()
    yield "the end", seen(made)


def compare(games: tuple[Game, ...], seed: int, presses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = list(play(begin(EvmChain, games, seed, monkeypatch), presses))
    twin = play(begin(TwinChain, games, seed, monkeypatch), presses)
    for expected, found in zip(real, twin, strict=True):
        assert found == expected


@pytest.mark.parametrize("games", [(TIC_TAC_TOE, ROCK_PAPER_SCISSORS), (DISCARD,)], ids=["without cards", "cards"])
@pytest.mark.parametrize(("seed", "presses"), [(1, 100), pytest.param(2, 1_000, marks=pytest.mark.long)])
def test_both_chains_show_the_same(
    games: tuple[Game, ...], seed: int, presses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(games, seed, presses, monkeypatch)
