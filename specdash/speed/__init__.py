"""Pure speed models: what an acceptance length is worth on a network."""
