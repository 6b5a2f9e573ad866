"""Connect four: seven columns of six; the first line of four wins.

A game too large to walk, laid over what `forcemove new connect-four` writes. There its package is `connect_four`, and
its contract is compiled.
"""

from tests.scaffold.connect_four.game import ConnectFour

__all__ = ["GAME"]

GAME = ConnectFour()
