"""What can be said of a state, a proof, a channel, a deployment: typed results, no printing.

It knows chains and clients; it knows no screen, no arguments and no exit code.
"""
