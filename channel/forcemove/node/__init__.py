"""The shell around the pure core: clients, the node that drives them, keys, stores, and channels on a local chain.
Knows no game and no screen."""
