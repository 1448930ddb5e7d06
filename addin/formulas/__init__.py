"""Formulas as text: finding our calls, and working them out."""
