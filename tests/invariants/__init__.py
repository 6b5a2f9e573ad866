"""What no sequence of operations may break, whoever sends them."""
