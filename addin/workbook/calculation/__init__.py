"""Working out every other formula that rests on our values: read, rewritten, reproduced first, then calculated."""
