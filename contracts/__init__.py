"""The compiled contracts, loaded by name. Playing and deploying need no compiler."""
