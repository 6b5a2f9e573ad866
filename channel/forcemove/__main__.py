"""`python -m forcemove`: the command line."""

from __future__ import annotations

from forcemove.cli.main import main

if __name__ == "__main__":
    main()
