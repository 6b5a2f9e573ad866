"""Tables' logs and the lobby on a NATS server with JetStream, where one relay is not enough. Knows NATS; what it is for
is said in `README.md` beside it.

`streams` says what the server keeps, `feed` reads it in order, `publishing` writes to it, `transport` is one table's
log, `stored_offer` and `lobby` are the offers, `connection` keeps the way to the server open."""
