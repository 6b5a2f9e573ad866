"""A relay's logs: on disk, the newest of them in memory, how much there may be of them, and the threads that use them.
Knows no network.
"""
