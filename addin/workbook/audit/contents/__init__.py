"""All that a book says: every cell, its formula and number format, the names and the sheets; and what differs."""
