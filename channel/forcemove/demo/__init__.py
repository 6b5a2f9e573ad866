"""Scenarios that bots play to their end, honest or in dispute, each with its balances compared with what they must be;
in this process, or between processes. Knows no screen: what happens is told through a port."""
