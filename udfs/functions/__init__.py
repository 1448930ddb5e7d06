"""The functions that a formula can call, one file for each name or family of names."""
