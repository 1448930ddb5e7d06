"""Attacks on backends that many use."""
