"""The `forcemove` command: parses, calls and prints. Finds games by entry point and imports none by name."""
