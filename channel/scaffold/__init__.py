"""Begins a game of somebody's own: a repository with rules in both languages, a bot, tests and a page."""
