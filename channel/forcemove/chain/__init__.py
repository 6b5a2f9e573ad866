"""Chains: typed calls and decoded logs of one adjudicator, deployments, local chains. Knows no client."""
