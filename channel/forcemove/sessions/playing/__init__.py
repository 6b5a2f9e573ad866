"""One game in a channel as its player follows it: what is shown, when the chain is asked, how it ended."""
