"""Live measurements over HTTP: the counters of a server."""
