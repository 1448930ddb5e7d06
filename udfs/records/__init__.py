"""Finding records and their fields: names, search, filters."""
