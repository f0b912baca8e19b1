"""The throughput calculator: its controls, and a section for every question that it answers."""
