"""Pages that explain a channel, a file or a deployment, as `forcemove inspect` and `forcemove verify` do. Inspection
changes nothing."""
