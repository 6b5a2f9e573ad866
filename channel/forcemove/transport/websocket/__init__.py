"""Tables' logs and the lobby on a relay, over a WebSocket. Knows sockets, and what a relay and its clients say to each
other.

`transport` is one table's log on a relay, `lobby` its lobby, `connection` keeps the way to it open.
"""
