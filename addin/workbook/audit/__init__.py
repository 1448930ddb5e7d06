"""Signed numbers: where each one came from, in lines that cannot be changed unnoticed."""
