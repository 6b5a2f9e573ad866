"""`forcemove`, and `python -m forcemove`: the command line."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line. Until it is imported Ctrl-C ends the program without a word, as nothing was begun."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from forcemove.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
