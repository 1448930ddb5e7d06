"""The program installed in every documented way, and used from there."""
