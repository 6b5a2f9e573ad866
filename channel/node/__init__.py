"""The shell around the pure core: keys, stores, clients, and channels on a local chain. Knows no game and no screen."""
