"""The attacks of the project's list, each by its number; `mutations.toml` says how each defence is taken out."""
