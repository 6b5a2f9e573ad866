"""The pure core: states, hashes, signatures, rules, and the machine of a channel. Knows no clock, randomness, files,
network or chain; time and keys are arguments."""
