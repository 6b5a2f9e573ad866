"""Tables' logs and the lobby on a relay, over a WebSocket. Knows sockets, and the messages between a relay and its
clients.

`transport` is one table's log on a relay, `lobby` its lobby, `connection` keeps the connection open.
"""
