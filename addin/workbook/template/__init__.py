"""The template: its look, its sheets, and `build`, which puts them together."""
