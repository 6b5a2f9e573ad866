"""A stake, played for on a page."""
