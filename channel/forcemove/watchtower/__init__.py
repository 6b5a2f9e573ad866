"""A watchtower: it answers challenges for participants who are away, with proofs that they gave it, and pays the gas
from its own account. Knows the chain, the journal and the rules; no participant's key, no secret, and no network."""
