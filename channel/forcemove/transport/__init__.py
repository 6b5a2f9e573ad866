"""The transport: tables' logs between machines, and the lobby where players meet. Knows flows and signatures; no store,
no chain and no game.

`terms` defines tables and proves who may post there, `wire` and `limits` the messages and their sizes, `offers` and
`links` bring players together. `websocket` talks to a relay and `jetstream` to a NATS server; `remote_log`, `log` and
`reconnecting` are what both have in common, and `connect` chooses between the two.
"""
