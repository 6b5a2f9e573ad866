"""What tests of a game are made of: `pip install forcemove[author]`. Installed, this is `forcemove.testing`."""
