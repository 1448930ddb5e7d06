"""How often the calculation comes to what Excel shows: measured, and the table of it."""
