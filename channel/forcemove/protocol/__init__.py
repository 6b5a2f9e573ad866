"""The pure core: no clock, randomness, files, network or chain; time and keys are arguments."""
