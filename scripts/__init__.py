"""Programs for people and CI: set-up, tests, compilation, measurements."""
