"""How players find each other from a terminal. Plays nothing, and signs nothing."""
