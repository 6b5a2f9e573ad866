"""The line: tables' logs between machines, and the lobby where players meet. Knows flows and signatures; no store, no
chain and no game.

`terms` says what a table is and proves who may post there, `wire` and `limits` what travels, `connection` keeps a way
to a relay open, `transport` is one table's log on it, `offers` and `links` bring players together. `jetstream` is the
same on a NATS server, and `connect` chooses between the two.
"""
