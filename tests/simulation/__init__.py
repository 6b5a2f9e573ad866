"""A chain in this process, fast, and as bad as a test wants it."""
