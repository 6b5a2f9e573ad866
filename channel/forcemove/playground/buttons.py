"""Which buttons the playground has, when each is open, and what pressing one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from forcemove.errors import ForcemoveError
from forcemove.game import Game, Level
from forcemove.playground.controls import Control, ControlGroup
from forcemove.playground.playground import Playground
from forcemove.playground.tours import TOURS
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.rounds import GAME_OVER
from forcemove.text.explanations import headline

_TEN_MINUTES = 600
_PLAYED = (Phase.PLAYING, Phase.CHALLENGED)


def groups_of(playground: Playground) -> tuple[ControlGroup, ...]:
    """All buttons, as they are now."""
    return (
        ControlGroup("Let Bob", _of_bob(playground)),
        ControlGroup("Let Bob play", tuple(_levels(playground))),
        ControlGroup("Network", _of_network(playground)),
        ControlGroup("Chain", _of_chain(playground)),
        ControlGroup("Game", tuple(_new(playground, each) for each in playground.games)),
        ControlGroup("Guided tour", _of_tours(playground)),
    )


def press(playground: Playground, name: str) -> str:
    """Press a button; returns why it is shut, empty where it was pressed. Unknown names are refused."""
    control = next((each for group in groups_of(playground) for each in group.controls if each.name == name), None)
    if control is None:
        return "There is no such button."
    if control.reason:
        return control.reason
    playground.chain.follow_clock()
    try:
        control.press()
    except ForcemoveError as error:
        return headline(error)
    finally:
        playground.revision += 1
    playground.poll()
    return ""


def _of_bob(playground: Playground) -> tuple[Control, ...]:
    match = playground.match
    bob, player = match.bob, playground.players[1]
    gone = "Bob has vanished." if player.is_gone else ""
    away = gone or ("Bob is silent." if bob.is_silent else "")
    over = GAME_OVER if match.managed.phase in OVER else ""
    ahead = over or ("" if match.managed.phase in _PLAYED else "The game has not begun, or is over.")
    is_fair = not (bob.is_late or bob.will_cheat or bob.will_withhold)
    return (
        Control("silent", "go silent", lambda: setattr(bob, "is_silent", True), over or away),
        Control("vanish", "vanish", bob.vanish, over or gone),
        Control("late", "answer late", lambda: setattr(bob, "is_late", True), over or _if(bob.is_late, "He does.")),
        Control("old", "show an old state", bob.show_old_state, over or gone or _why_no_old_state(playground)),
        Control("illegal", "move illegally", lambda: setattr(bob, "will_cheat", True), _armed(ahead, bob.will_cheat)),
        Control("forge", "forge your signature", bob.forge, ahead or gone),
        Control(
            "withhold",
            "withhold a move",
            lambda: setattr(bob, "will_withhold", True),
            _armed(ahead, bob.will_withhold),
        ),
        Control("back", "come back", bob.come_back, "" if away else "Bob is here."),
        Control("fair", "play fair", bob.play_fair, _if(is_fair, "Bob has no other plans.")),
    )


def _why_no_old_state(playground: Playground) -> str:
    match = playground.match
    phases = [each.managed.phase for each in playground.players]
    if phases != [Phase.PLAYING, Phase.PLAYING] or match.finalizes_at:
        return "This works while a game is played and no clock is running."
    return "" if match.bob.old_proof is not None else "There is no older state that the chain would accept."


def _armed(reason: str, is_armed: bool) -> str:
    return reason or _if(is_armed, "Bob will, with his next move.")


def _of_network(playground: Playground) -> tuple[Control, ...]:
    network = playground.match.network

    def mend() -> None:
        network.mend()
        playground.match.greet()

    def control(name: str, text: str, flag: str, reason: str) -> Control:
        return Control(name, text, lambda: setattr(network, flag, True), _if(getattr(network, flag), reason))

    return (
        control("cut", "cut it", "is_cut", "It is cut."),
        control("delay", "delay messages", "is_slow", "They are delayed."),
        control("lose", "lose messages", "is_lossy", "Every other one is lost."),
        control("repeat", "repeat messages", "is_repeating", "They are repeated."),
        Control("mend", "mend it", mend, _if(network.is_whole, "Nothing is wrong with it.")),
    )


def _of_chain(playground: Playground) -> tuple[Control, ...]:
    chain, endpoint = playground.chain, playground.endpoint
    until = playground.match.finalizes_at

    def run_out() -> None:
        chain.skip(until - chain.time)

    def set_away(is_away: bool) -> Callable[[], None]:
        return lambda: setattr(endpoint, "is_away", is_away)

    return (
        Control("ten-minutes", "ten minutes on", lambda: chain.skip(_TEN_MINUTES)),
        Control("run-out", "let the clock run out", run_out, _if(until <= chain.time, "No clock is running.")),
        Control("undo", "undo a block", lambda: _undo(playground), _if(not chain.can_undo, "There is no block.")),
        Control("dear", "make gas dear", lambda: chain.set_dear(True), _if(chain.is_dear, "It is dear.")),
        Control("cheap", "gas as usual", lambda: chain.set_dear(False), _if(not chain.is_dear, "It is as usual.")),
        Control("away", "take your endpoint away", set_away(True), _if(endpoint.is_away, "It is away.")),
        Control("endpoint", "bring it back", set_away(False), _if(not endpoint.is_away, "It is there.")),
    )


def _undo(playground: Playground) -> None:
    """Undo a block, and let Alice's node see that before miners take up what was in it."""
    playground.chain.undo()
    playground.players[0].poll()


def _levels(playground: Playground) -> Iterator[Control]:
    for level in Level:
        is_so = playground.level is level
        yield Control(
            level.value, level.value, partial(setattr, playground, "level", level), _if(is_so, "He already does.")
        )


def _new(playground: Playground, game: Game) -> Control:
    match = playground.match
    is_free = match.checks is not None or not match.has_money
    return Control(
        f"new-{game.name}",
        f"new game: {game.title}",
        lambda: playground.new_game(game),
        "" if is_free else "Finish this game first: leave, or let its clock run out.",
    )


def _of_tours(playground: Playground) -> tuple[Control, ...]:
    phase, tour = playground.match.managed.phase, playground.tour
    is_free = playground.match.checks is not None or phase is Phase.PLAYING
    reason = "" if is_free else "Wait until the game has begun, or is over."
    begins = (
        Control(f"tour-{name}", plan.title, partial(playground.begin_tour, name), reason)
        for name, plan in TOURS.items()
    )
    is_guided = tour is not None and not tour.is_over
    return (*begins, Control("tour-end", "no tour", playground.end_tour, _if(not is_guided, "There is none.")))


def _if(is_so: bool, reason: str) -> str:
    return reason if is_so else ""
