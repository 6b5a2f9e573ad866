"""A watchtower on the network: it takes appointments over HTTP from clients, and answers requests for its health."""
