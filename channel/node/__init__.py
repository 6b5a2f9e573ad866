"""The shell around the pure core: keys, stores, clients, watchtowers."""
