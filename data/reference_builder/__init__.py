"""Builds the reference evaluation: a reconstruction of a run from the tables printed in its report."""
