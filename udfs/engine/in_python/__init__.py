"""Calls from Python: awaited one by one, answered together, labelled by the names they were given."""
