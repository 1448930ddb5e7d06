"""Attacks on the client, its cache and its archive."""
