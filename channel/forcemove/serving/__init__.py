"""What processes share that listen for strangers: how fast one of them may speak, and what keeps such a process from
starting. Knows no channel and no protocol."""
