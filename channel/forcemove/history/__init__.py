"""A channel's history: what has happened in the channel, as values, and what follows from these. Pure.

`entries` are the values, and `packing` makes bytes of them; `derivation` makes them of a channel before and after a
step, and of what the chain shows; `index` is what a process must know of earlier entries so that it makes none twice;
`history` is a whole history, read back; `summary` is a channel in a few values, for lists. The room knows no journal,
no chain, no clock and no screen: times are arguments.
"""
