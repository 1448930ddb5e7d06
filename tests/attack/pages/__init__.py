"""Attacks on the backend and its pages, as from a browser."""
