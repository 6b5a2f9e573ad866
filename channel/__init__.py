"""State channels: the protocol core, flows, chains, clients, inspection and the command line. Imports no game."""
