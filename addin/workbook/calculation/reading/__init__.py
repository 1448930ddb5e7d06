"""Formulas read: split into tokens, parsed, and told what they do."""
