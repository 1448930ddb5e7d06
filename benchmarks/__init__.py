"""Benchmarks: one command each, a table with ratios to a floor, nothing written."""
