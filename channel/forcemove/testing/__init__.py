"""The kit that tests of a game are made with: `pip install forcemove[author]`. Knows no game by name."""
