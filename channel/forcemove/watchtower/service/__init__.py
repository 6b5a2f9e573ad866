"""A watchtower on the network: it takes appointments over HTTP from strangers, and answers requests for its health."""
