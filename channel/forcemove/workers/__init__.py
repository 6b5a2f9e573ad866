"""What polls endpoints and sends for accounts, for a node and for a watchtower alike. Knows no channel's client."""
