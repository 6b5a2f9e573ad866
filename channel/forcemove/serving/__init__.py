"""What all services share, which are processes that listen for unknown clients: limits, rates, metrics, and how a
service starts and stops. Knows no channel and no protocol."""
