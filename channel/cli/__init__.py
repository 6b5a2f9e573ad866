"""The `forcemove` command. Finds games by entry point and imports none."""
