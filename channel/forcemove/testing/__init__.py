"""The kit that tests of a game are made with: `pip install forcemove[author]`. Installed, it is `forcemove.testing`.
Knows no game by name."""
