"""Experiments: the only place that uses both sides and the statistics."""
