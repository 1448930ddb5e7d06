"""Formulas that users enter: what they are, and what they come to in the calculation that a refresh uses."""
