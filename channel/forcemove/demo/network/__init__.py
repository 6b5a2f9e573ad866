"""The demonstration over a network: a relay, a chain, and a process for each player, all on this machine."""
