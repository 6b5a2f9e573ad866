"""What no sequence of operations may break, from any senders."""
