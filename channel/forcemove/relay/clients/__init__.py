"""The clients of a relay: their connections, what they ask for, and what they are sent."""
