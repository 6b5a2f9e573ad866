"""Private keys in encrypted files, and from the environment. Knows no channel, chain or command line."""
