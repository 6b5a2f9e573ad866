"""A channel's moment in sentences: the headline, the clock, the ways out, the end, and how safe the money is. Screens
place them, and say nothing else of it."""
