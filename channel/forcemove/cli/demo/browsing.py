"""The playground in a browser: a server on this machine, and the address that opens it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from forcemove.browser.playground.server import playground_server
from forcemove.cli.play.browsing import open_page
from forcemove.cli.play.signals import Terminated, run_until_terminated
from forcemove.cli.terminal import Terminal
from forcemove.game import Game, Level
from forcemove.playground.playground import Playground

_ENDED = "The playground has ended, and its chain with it."


def play_in_browser(games: Sequence[Game], stake: int, duration: int, level: Level, *, port: int, opens: bool) -> None:
    """Serve a playground until the program is asked to end.

    - `games`: what can be played, the first one first.
    - `stake`: of a round, in wei.
    - `duration`: of a challenge, in seconds.
    - `level`: how well the bot plays at first.
    - `port`: where to listen, 0 for any that is free.
    - `opens`: whether to open the page in the user's browser, where there is one.
    """
    with closing(Terminal(indent=0)) as terminal:
        terminal.status("Bringing up the chain")
        playground = Playground(games, stake=stake, duration=duration, level=level)
        terminal.close()

        def on_ready(address: str) -> None:
            terminal.say("You are Alice, and play against Bob. The money is worth nothing.")
            terminal.say("Open this address in a browser on this machine; it works once. Ctrl-C ends the game.")
            terminal.say_whole(address)
            if opens:
                open_page(address)

        try:
            run_until_terminated(playground_server(playground, port).run(on_ready))
        except Terminated:
            raise Terminated(_ENDED) from None
        except KeyboardInterrupt:
            terminal.say(_ENDED)
