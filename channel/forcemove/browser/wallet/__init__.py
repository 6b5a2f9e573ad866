"""The page on which a wallet in the browser signs what channels want of it. The wallet keeps its own keys; what became
of a transaction shows by its effects, whatever the page was told."""
