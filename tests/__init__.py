"""A package, so that tests share ``tests.helpers``."""
