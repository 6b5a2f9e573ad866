"""The shell around the pure core: clients, and the node that drives them. Knows no screen."""
