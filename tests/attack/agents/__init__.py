"""Attacks on the tools for agents: calls, pages, texts and counts that a well-meaning example would not show."""
