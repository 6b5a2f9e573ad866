"""The channel as a pure function of its inputs: no clock, no key of its own, no input or output."""
