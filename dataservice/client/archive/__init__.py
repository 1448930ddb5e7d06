"""What was known when: every answer about a signal is a look, and what changed between two looks is kept."""
