"""Tables' logs and the lobby on a NATS server with JetStream, where one relay is not enough. Knows NATS; the
`README.md` of this folder says what it is for.

`streams` defines what the server stores, `feed` reads it in order, `session` writes to it, `transport` is one table's
log, `stored_offer` and `lobby` are the offers, `connection` keeps the connection open.
"""
