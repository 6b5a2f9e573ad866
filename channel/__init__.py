"""State channels: the protocol core, chains, clients and the command line."""
