"""The README: its examples, its commands, its links, and what is generated in it."""
