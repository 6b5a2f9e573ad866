"""What processes share that listen for strangers: what they grant, how fast one of them may speak, what is counted, and
how such a process starts and stops. Knows no channel and no protocol."""
