"""A watchtower on the network: the service that an operator runs, the client that gives it hand-overs, and what does
that for a node after each step. Knows the tower's core and HTTP; it sees no participant's key but to sign hand-overs
with."""
