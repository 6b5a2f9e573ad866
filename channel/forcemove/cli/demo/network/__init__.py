"""The demonstration over a network: two players' output side by side."""
