"""The transport: tables' logs between machines, and the lobby where players meet. Knows flows and signatures; no store,
no chain and no game.

`terms` says what a table is and proves who may post there, `wire` and `limits` what travels, `offers` and `links` bring
players together. `websocket` is the way to a relay and `jetstream` that to a NATS server; `remote_log`,
`log` and `reconnecting` are what both have in common, and `connect` chooses between the two.
"""
