"""The journal: what a process must not forget, in SQLite or PostgreSQL. Knows no chain, no node and no game.

`opening` opens one; `records` are the values that go in and come out; `errors` is what can be wrong. Only `opening`
and what is beneath it load SQLAlchemy.
"""
