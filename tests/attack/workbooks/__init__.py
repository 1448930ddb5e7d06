"""Attacks on whatever works on workbooks and formulas."""
