"""What can be said of a state, a proof, a channel, a deployment: typed results, no printing.

Knows chains and clients; knows no screen, no arguments and no exit code.
"""
