"""A watchtower on the network: it takes appointments over HTTP from strangers, and tells its operator how it is."""
