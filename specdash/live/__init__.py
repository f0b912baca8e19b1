"""Live measurements over HTTP: the counters of a server, and the A/B bench of two OpenAI-compatible endpoints."""
